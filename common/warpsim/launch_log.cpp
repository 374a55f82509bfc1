#include "warpsim/launch_log.h"

#include <tuple>

namespace warpsim {

void Sampling::add(const Sampling& other) {
  if (!other.used) return;
  if (!used) {
    *this = other;
    return;
  }
  if (exact) why = other.why;
  exact = exact && other.exact;
  blocks += other.blocks;
  executed += other.executed;
  classes = std::max(classes, other.classes);
  checked += other.checked;
  relative_error = std::max(relative_error, other.relative_error);
}

bool LoggedKernel::is_of(const LaunchReport& report) const {
  return mangled == report.mangled && grid == report.grid && block == report.block &&
         dynamic_shared_bytes == report.dynamic_shared_bytes;
}

void LoggedKernel::begin(const LaunchReport& report) {
  name = report.kernel;
  mangled = report.mangled;
  grid = report.grid;
  block = report.block;
  static_shared_bytes = report.static_shared_bytes;
  dynamic_shared_bytes = report.dynamic_shared_bytes;
  local_bytes = report.local_bytes;
}

void LoggedKernel::add(const LaunchReport& report) {
  ++launches;
  counters.add(report.counters);
  for (const LineCounters& line : report.lines) lines[{line.file, line.line}].add(line.counters);
  sampling.add(report.sampling);
  seconds += report.seconds;
}

void add_finding(std::vector<LoggedFinding>* findings, const Diagnostic& found, int64_t launch) {
  // Of one kernel with one code: a launch may be refused for several reasons, and each is to be
  // mended.
  const auto reason = [](const Diagnostic& d) {
    const bool is_refusal = d.code == Code::kLaunchConfig || d.code == Code::kUnsupported ||
                            d.code == Code::kUncheckedLaunch;
    return is_refusal ? std::tuple(d.cause, d.message) : std::tuple(Cause::kNone, std::string());
  };
  const auto key = [&](const Diagnostic& d) {
    return std::tuple(d.code, std::tie(d.kernel, d.file, d.line, d.array),
                      d.other ? d.other->line : 0, reason(d));
  };
  const auto known = std::find_if(findings->begin(), findings->end(), [&](const LoggedFinding& f) {
    return key(f.diagnostic) == key(found);
  });
  if (known == findings->end())
    findings->push_back({found, launch});
  else
    known->diagnostic.count += found.count;
}

}  // namespace warpsim
