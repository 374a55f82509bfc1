#include "cudart/session_report.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace warpsim::cudart {

namespace {

bool is_same_configuration(const LaunchReport& a, const LaunchReport& b) {
  return a.mangled == b.mangled && a.grid == b.grid && a.block == b.block &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

void merge_lines(const std::vector<LineCounters>& more, std::vector<LineCounters>* lines) {
  std::map<std::pair<std::string, uint32_t>, Counters> merged;
  for (const LineCounters& line : *lines) merged[{line.file, line.line}] = line.counters;
  for (const LineCounters& line : more) merged[{line.file, line.line}].add(line.counters);
  lines->clear();
  for (const auto& [place, counters] : merged)
    lines->push_back({place.first, place.second, counters});
}

bool is_same_place(const Diagnostic& a, const Diagnostic& b) {
  return std::tie(a.code, a.kernel, a.file, a.line) == std::tie(b.code, b.kernel, b.file, b.line);
}

// A launch that was refused: it has no counters, and its fault is the host's.
Diagnostic refused_launch(const LaunchReport& report) {
  Diagnostic diagnostic;
  diagnostic.code = "launch-config";
  diagnostic.message = "The launch was refused: " + report.message + ".";
  diagnostic.kernel = report.kernel;
  diagnostic.count = 1;
  return diagnostic;
}

}  // namespace

void SessionReport::add(const LaunchReport& report, uint32_t registers) {
  ++launches_;
  if (report.status == LaunchStatus::kBadLaunch) {
    add_diagnostic(refused_launch(report));
    return;
  }
  auto kernel = std::find_if(kernels_.begin(), kernels_.end(), [&](const KernelReport& k) {
    return is_same_configuration(k.first, report);
  });
  if (kernel == kernels_.end()) {
    kernel = kernels_.emplace(kernels_.end());
    kernel->first = report;
    kernel->registers = registers;
    kernel->first.diagnostics.clear();
    kernel->first.lines.clear();
  }
  ++kernel->launches;
  kernel->seconds += report.seconds;
  kernel->sampling.add(report.sampling);
  kernel->counters.add(report.counters);
  if (kernel->launches == 1) {
    kernel->lines = report.lines;
  } else {
    merge_lines(report.lines, &kernel->lines);
  }
  for (const Diagnostic& diagnostic : report.diagnostics) add_diagnostic(diagnostic);
}

void SessionReport::add_diagnostic(const Diagnostic& diagnostic) {
  auto known = std::find_if(
      diagnostics_.begin(), diagnostics_.end(),
      [&](const SessionDiagnostic& d) { return is_same_place(d.diagnostic, diagnostic); });
  if (known == diagnostics_.end()) {
    diagnostics_.push_back({diagnostic, launches_});
  } else {
    known->diagnostic.count += diagnostic.count;
  }
}

}  // namespace warpsim::cudart
