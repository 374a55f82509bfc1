// What a run of a program leaves: kept up to date while it runs, written once at its end.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "cudart/options.h"
#include "cudart/session_report.h"
#include "cudart/shared_state.h"
#include "warpsim/device.h"

namespace warpsim::cudart {

class Reporting {
 public:
  // `options` and `device` must stay.
  Reporting(const LiveOptions& options, const Device& device);

  bool is_wanted() const;  // some report is
  void begin_launch(const std::string& kernel);
  void end_launch(const LaunchReport& launch, const std::function<uint32_t()>& registers);
  void add_finding(const Diagnostic& found);
  // Said at once as well, each sentence once.
  void add_unsupported(const std::string& sentence);
  // Before the host is given back control for good or for long: what a killed program leaves.
  void keep();
  // Nothing is added after it.
  void leave();
  bool has_left() const { return has_left_; }

 private:
  void count(const Diagnostic& found);
  void keep_if_due(bool is_new);

  const LiveOptions& options_;
  const Device& device_;
  SessionReport report_;
  SharedState* shared_ = nullptr;
  std::set<std::string> said_;
  size_t known_ = 0;  // kernels and findings that the last snapshot had
  std::chrono::steady_clock::time_point kept_at_{};
  std::chrono::steady_clock::duration cost_{};  // of the last snapshot
  bool has_left_ = false;
};

std::string program_path();  // of this process, empty: not known

}  // namespace warpsim::cudart
