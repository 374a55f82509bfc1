#include "cudart/session_report.h"

#include <algorithm>

namespace warpsim::cudart {

void SessionReport::add(const LaunchReport& report, const std::function<uint32_t()>& registers) {
  if (report.status == LaunchStatus::kBadLaunch) {
    log_.add_findings(report.diagnostics);
    return;
  }
  KernelReport& kernel = log_.add(report);
  if (kernel.launches == 1) kernel.registers = registers();
}

std::string more_arrays_text(const SessionDiagnostic& finding) {
  constexpr size_t kNamed = 3;
  const std::vector<std::string>& arrays = finding.more_arrays;
  if (arrays.empty()) return "";
  std::string text = "and in " + std::to_string(arrays.size()) + " more " +
                     (arrays.size() == 1 ? "buffer" : "buffers") + ": ";
  for (size_t i = 0; i < std::min(arrays.size(), kNamed); ++i) text += (i ? ", " : "") + arrays[i];
  return text + (arrays.size() > kNamed ? ", ..." : "");
}

}  // namespace warpsim::cudart
