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

namespace {

// Of one kernel with one code: a launch may be refused for several reasons, and each is to be
// mended.
auto reason(const Diagnostic& d) {
  const bool is_refusal = d.code == Code::kLaunchConfig || d.code == Code::kUnsupported ||
                          d.code == Code::kUncheckedLaunch;
  return is_refusal ? std::tuple(d.cause, d.message) : std::tuple(Cause::kNone, std::string());
}

bool is_same(const Diagnostic& a, const Diagnostic& b) {
  const auto key = [](const Diagnostic& d) {
    return std::tuple(d.code, std::tie(d.kernel, d.file, d.line), d.other ? d.other->line : 0,
                      reason(d));
  };
  return key(a) == key(b);
}

// What one place does in many buffers has one cause, if it is known where that is.
bool may_join(const Diagnostic& a, const Diagnostic& b) {
  return a.line != 0 && a.access == b.access && a.cause == b.cause && a.severity == b.severity &&
         a.space == MemorySpace::kGlobal && b.space == MemorySpace::kGlobal && !a.array.empty() &&
         !b.array.empty();
}

}  // namespace

void add_finding(std::vector<LoggedFinding>* findings, const Diagnostic& found, int64_t launch,
                 bool joins_arrays) {
  for (LoggedFinding& known : *findings) {
    Diagnostic& first = known.diagnostic;
    if (!is_same(first, found)) continue;
    const bool is_other_array = first.array != found.array;
    if (is_other_array && !(joins_arrays && may_join(first, found))) continue;
    first.count += found.count;
    auto& more = known.more_arrays;
    if (is_other_array && std::find(more.begin(), more.end(), found.array) == more.end())
      more.push_back(found.array);
    return;
  }
  findings->push_back({found, launch, {}});
}

}  // namespace warpsim
