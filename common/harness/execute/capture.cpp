#include "harness/execute/capture.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace tilewise {

StdoutCapture::StdoutCapture() {
  std::fflush(stdout);
  file_ = ::memfd_create("device-printf", MFD_CLOEXEC);
  if (file_ < 0) return;
  saved_ = ::dup(STDOUT_FILENO);
  if (saved_ >= 0) ::dup2(file_, STDOUT_FILENO);
}

StdoutCapture::~StdoutCapture() {
  std::fflush(stdout);
  if (saved_ >= 0) {
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
  }
  if (file_ >= 0) ::close(file_);
}

std::string StdoutCapture::text(size_t limit) {
  std::fflush(stdout);
  if (file_ < 0) return "";
  struct stat info;
  size_t total = ::fstat(file_, &info) == 0 ? static_cast<size_t>(info.st_size) : 0;
  std::string text(std::min(total, limit), '\0');
  ssize_t count = ::pread(file_, text.data(), text.size(), 0);
  text.resize(count < 0 ? 0 : static_cast<size_t>(count));
  if (total > limit) text += "\n[" + std::to_string(total - limit) + " more bytes printed]\n";
  return text;
}

}  // namespace tilewise
