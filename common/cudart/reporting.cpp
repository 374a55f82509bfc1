#include "cudart/reporting.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cudart/report_file.h"
#include "cudart/runtime.h"
#include "cudart/sarif.h"
#include "json/json.h"

namespace warpsim::cudart {

namespace {

// A snapshot is made where it takes less than this part of the time since the last one.
constexpr int kShare = 20;

SharedState* map_shared(int fd) {
  struct stat facts = {};
  if (fd < 0 || fstat(fd, &facts) != 0 || size_t(facts.st_size) != SharedState::kBytes)
    return nullptr;
  void* memory =
      mmap(nullptr, SharedState::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SharedState*>(memory);
}

}  // namespace

std::string program_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

Reporting::Reporting(const LiveOptions& options, const Device& device)
    : options_(options), device_(device), shared_(map_shared(options.shared_fd)) {}

bool Reporting::is_wanted() const {
  return options_.report != "none" || !options_.json_path.empty() || !options_.sarif_path.empty();
}

void Reporting::begin_launch(const std::string& kernel) {
  if (shared_ == nullptr) return;
  const size_t size = std::min(kernel.size(), sizeof shared_->kernel - 1);
  std::memcpy(shared_->kernel, kernel.data(), size);
  shared_->kernel[size] = '\0';
}

void Reporting::end_launch(const LaunchReport& launch, const std::function<uint32_t()>& registers) {
  if (shared_ != nullptr) shared_->kernel[0] = '\0';
  report_.add(launch, registers);
  for (const Diagnostic& found : launch.diagnostics) count(found);
  keep_if_due(report_.kernels().size() + report_.diagnostics().size() != known_);
}

void Reporting::count(const Diagnostic& found) {
  if (shared_ == nullptr) return;
  if (found.code == Code::kUnsupported)
    shared_->refused = 1;
  else if (found.severity != Severity::kNote)
    shared_->findings = 1;
}

void Reporting::add_finding(const Diagnostic& found) {
  if (has_left_) return;
  report_.add_finding(found);
  count(found);
  keep_if_due(report_.kernels().size() + report_.diagnostics().size() != known_);
}

void Reporting::add_unsupported(const std::string& sentence) {
  if (!said_.insert(sentence).second) return;
  say(sentence);
  if (shared_ != nullptr) shared_->refused = 1;
  if (has_left_) return;
  report_.add_unsupported(sentence);
  keep();
}

void Reporting::keep_if_due(bool is_new) {
  const auto now = std::chrono::steady_clock::now();
  if (is_new || now - kept_at_ > kShare * cost_) keep();
}

void Reporting::keep() {
  if (shared_ == nullptr || has_left_ || !is_wanted()) return;
  const auto start = std::chrono::steady_clock::now();
  known_ = report_.kernels().size() + report_.diagnostics().size();
  const std::string program = program_path();
  tilewise::Json all;
  if (options_.report != "none")
    all["text"] = to_text(report_, device_, options_.report == "lines");
  if (!options_.json_path.empty()) all["json"] = to_json(report_, device_, program);
  if (!options_.sarif_path.empty()) all["sarif"] = to_sarif(report_, program, options_.sarif_root);
  const std::string text = tilewise::json_text(all);
  if (text.size() <= SharedState::kSlotBytes) {
    const uint32_t slot = shared_->slot == 1 ? 2 : 1;
    std::memcpy(shared_->place(slot), text.data(), text.size());
    shared_->sizes[slot - 1] = text.size();
    shared_->slot = slot;
  }
  kept_at_ = std::chrono::steady_clock::now();
  cost_ = kept_at_ - start;
}

void Reporting::leave() {
  if (has_left_) return;
  std::fflush(stdout);
  if (options_.report != "none" && !report_.is_empty())
    std::fputs(to_text(report_, device_, options_.report == "lines").c_str(), stderr);
  auto write = [](const std::string& path, const std::string& text) {
    if (!write_report(path, text)) say("cannot write the report to " + path + ".");
  };
  if (!options_.json_path.empty())
    write(options_.json_path, to_json(report_, device_, program_path()));
  if (!options_.sarif_path.empty())
    write(options_.sarif_path, to_sarif(report_, program_path(), options_.sarif_root));
  has_left_ = true;
  if (shared_ == nullptr) return;
  shared_->slot = 0;
  ++shared_->reports;
}

}  // namespace warpsim::cudart
