#include "cudart/session_report.h"

namespace warpsim::cudart {

void SessionReport::add(const LaunchReport& report, uint32_t registers) {
  if (report.status == LaunchStatus::kBadLaunch) {
    log_.add_findings(report.diagnostics);
    return;
  }
  KernelReport& kernel = log_.add(report);
  if (kernel.launches == 1) kernel.registers = registers;
}

}  // namespace warpsim::cudart
