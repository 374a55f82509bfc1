#include "harness/execute/refused.h"

#include "warpsim/ptx/demangle.h"

namespace tilewise {

warpsim::LaunchReport refused(const warpsim::Launch& launch, const warpsim::KernelLimits& kernel,
                              const warpsim::BrokenLimit& limit) {
  warpsim::LaunchReport report;
  report.status = warpsim::LaunchStatus::kBadLaunch;
  report.cuda_error = limit.cuda_error;
  report.message = limit.finding.message;
  report.kernel = warpsim::ptx::function_source_name(launch.kernel);
  report.mangled = launch.kernel;
  report.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  report.block = {launch.block.x, launch.block.y, launch.block.z};
  report.static_shared_bytes = kernel.static_shared_bytes;
  report.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  report.diagnostics.push_back(limit.finding);
  report.diagnostics.back().kernel = report.kernel;
  return report;
}

}  // namespace tilewise
