#include "cudart/session_report.h"

namespace warpsim::cudart {

namespace {

// A launch that was refused: it has no counters, and its fault is the host's.
Diagnostic refused_launch(const LaunchReport& report) {
  Diagnostic diagnostic;
  diagnostic.code = Code::kLaunchConfig;
  diagnostic.message = "The launch was refused: " + report.message + ".";
  diagnostic.kernel = report.kernel;
  diagnostic.count = 1;
  return diagnostic;
}

}  // namespace

void SessionReport::add(const LaunchReport& report, uint32_t registers) {
  if (report.status == LaunchStatus::kBadLaunch) {
    log_.add_findings({refused_launch(report)});
    return;
  }
  KernelReport& kernel = log_.add(report);
  if (kernel.launches == 1) kernel.registers = registers;
}

}  // namespace warpsim::cudart
