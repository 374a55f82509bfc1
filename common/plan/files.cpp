#include "plan/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "plan/error.h"

namespace tilewise {

namespace {

// Writes all of `content`; false with errno set on failure.
bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::string read_file(const std::string& path) {
  auto fail = [&]() -> std::string {
    throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno) + ".");
  };
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail();
  std::string content;
  struct stat info;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    content.reserve(static_cast<size_t>(info.st_size));
  }
  char block[1 << 16];
  ssize_t count;
  while ((count = ::read(fd, block, sizeof block)) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      int error = errno;
      ::close(fd);
      errno = error;
      return fail();
    }
    content.append(block, static_cast<size_t>(count));
  }
  ::close(fd);
  return content;
}

void write_file(const std::string& path, std::string_view content) {
  // A device or a pipe is written to: a rename would put a plain file in its place, /dev/null's
  // too.
  struct stat info;
  bool is_special =
      ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
  std::string temporary = is_special ? path : path + ".tmp-" + std::to_string(::getpid());
  auto fail = [&](int error) {
    if (!is_special) ::unlink(temporary.c_str());
    throw HarnessError("cannot write " + path + ": " + std::strerror(error) + ".");
  };
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return fail(errno);
  if (!write_all(fd, content)) {
    int error = errno;
    ::close(fd);
    return fail(error);
  }
  if (::close(fd) != 0) return fail(errno);
  if (!is_special && ::rename(temporary.c_str(), path.c_str()) != 0) return fail(errno);
}

std::string beside(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).string();
}

}  // namespace tilewise
