// What a program's launches did, merged over the run: the report that `warpsim run` leaves.
//
// One KernelReport per (kernel, grid, block, dynamic shared memory), in the order of their first
// launches; diagnostics merged over launches by (code, kernel, file, line). A launch that was
// refused is a diagnostic only.

#pragma once

#include <string>
#include <vector>

#include "warpsim/device.h"
#include "warpsim/report.h"

namespace warpsim::cudart {

struct KernelReport {
  LaunchReport first;  // names, sizes; its counters and lines are not used
  uint64_t launches = 0;
  uint32_t registers = 0;           // per thread, 0: unknown
  Counters counters;                // summed over the launches
  std::vector<LineCounters> lines;  // likewise, sorted by file and line
  Sampling sampling;                // likewise
  double seconds = 0;               // of simulation
};

struct SessionDiagnostic {
  Diagnostic diagnostic;  // count summed over the launches
  uint64_t launch = 0;    // the launch that showed it first, 1-based
};

class SessionReport {
 public:
  void add(const LaunchReport& report, uint32_t registers);
  // A launch that could not be carried out, or an API call that is not provided: one sentence.
  void add_unsupported(std::string sentence) { unsupported_.push_back(std::move(sentence)); }

  bool is_empty() const { return kernels_.empty() && unsupported_.empty(); }
  uint64_t launches() const { return launches_; }
  const std::vector<KernelReport>& kernels() const { return kernels_; }
  const std::vector<SessionDiagnostic>& diagnostics() const { return diagnostics_; }
  const std::vector<std::string>& unsupported() const { return unsupported_; }

 private:
  void add_diagnostic(const Diagnostic& diagnostic);

  uint64_t launches_ = 0;
  std::vector<KernelReport> kernels_;
  std::vector<SessionDiagnostic> diagnostics_;
  std::vector<std::string> unsupported_;
};

// schema "warpsim.report/1": device, program, launches, kernels, diagnostics, unsupported, with the
// field names of a grading result.
std::string to_json(const SessionReport& report, const Device& device, const std::string& program);

// For people. `with_lines`: counters per source line as well.
std::string to_text(const SessionReport& report, const Device& device, bool with_lines);

}  // namespace warpsim::cudart
