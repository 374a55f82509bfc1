// What a program's launches did, merged over the run: the report that `warpsim run` leaves.
//
// launch_log.h says how launches are merged. A launch that was refused is a diagnostic only.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "warpsim/device.h"
#include "warpsim/launch_log.h"
#include "warpsim/report.h"

namespace warpsim::cudart {

struct KernelReport : LoggedKernel {
  uint32_t registers = 0;  // per thread, 0: unknown
};

using SessionDiagnostic = LoggedFinding;

class SessionReport {
 public:
  SessionReport() { log_.joins_arrays = true; }
  // `registers` of the kernel are asked for once per kernel and configuration: that may take long.
  void add(const LaunchReport& report, const std::function<uint32_t()>& registers);
  // One that belongs to no single launch.
  void add_finding(const Diagnostic& found) { warpsim::add_finding(&log_.faults, found, -1, true); }
  // A launch that could not be carried out, or an API call that is not provided: one sentence.
  void add_unsupported(std::string sentence) { unsupported_.push_back(std::move(sentence)); }

  bool is_empty() const {
    return log_.kernels.empty() && log_.faults.empty() && unsupported_.empty();
  }
  uint64_t launches() const { return log_.launches; }
  const std::vector<KernelReport>& kernels() const { return log_.kernels; }
  const std::vector<SessionDiagnostic>& diagnostics() const { return log_.faults; }
  const std::vector<std::string>& unsupported() const { return unsupported_; }

 private:
  LaunchLog<KernelReport> log_;
  std::vector<std::string> unsupported_;
};

// "and in 4 more buffers: a, b, c, ..." for a finding that was joined, or nothing.
std::string more_arrays_text(const SessionDiagnostic& finding);

// schema "warpsim.report/1": device, program, launches, kernels, diagnostics, unsupported, with the
// field names of a grading result.
std::string to_json(const SessionReport& report, const Device& device, const std::string& program);

// For people. `with_lines`: counters per source line as well.
std::string to_text(const SessionReport& report, const Device& device, bool with_lines);

}  // namespace warpsim::cudart
