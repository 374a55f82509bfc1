
#include "cudart/session_report.h"
#include "json/json.h"
#include "warpsim/counters_json.h"
#include "warpsim/finding_json.h"

namespace warpsim::cudart {

namespace {

using tilewise::Json;

Json occupancy_json(const KernelReport& kernel, const Device& device, Json* limiter) {
  if (!kernel.registers) return nullptr;
  Occupancy result =
      occupancy(device, kernel.registers, kernel.static_shared_bytes + kernel.dynamic_shared_bytes,
                kernel.block[0] * kernel.block[1] * kernel.block[2]);
  *limiter = result.limiter;
  return result.fraction;
}

Json kernel_json(const KernelReport& kernel, const Device& device) {
  Json lines = Json::array();
  for (const auto& [place, counters] : kernel.lines)
    lines.push_back({{"file", place.first},
                     {"line", place.second},
                     {"counters", counters_json<Json>(counters, device.counting_rule)}});
  Json limiter = nullptr;
  Json fraction = occupancy_json(kernel, device, &limiter);
  return {{"name", kernel.name},
          {"mangled", kernel.mangled},
          {"grid", kernel.grid},
          {"block", kernel.block},
          {"shared_bytes", kernel.static_shared_bytes + kernel.dynamic_shared_bytes},
          {"static_shared_bytes", kernel.static_shared_bytes},
          {"dynamic_shared_bytes", kernel.dynamic_shared_bytes},
          {"local_bytes", kernel.local_bytes},
          {"registers", kernel.registers ? Json(kernel.registers) : Json(nullptr)},
          {"occupancy", fraction},
          {"occupancy_limiter", limiter},
          {"launches", kernel.launches},
          {"seconds", kernel.seconds},
          {"sampling", sampling_json<Json>(kernel.sampling)},
          {"counters", counters_json<Json>(kernel.counters, device.counting_rule)},
          {"lines", lines}};
}

}  // namespace

std::string to_json(const SessionReport& report, const Device& device, const std::string& program) {
  Json kernels = Json::array(), diagnostics = Json::array();
  for (const KernelReport& kernel : report.kernels())
    kernels.push_back(kernel_json(kernel, device));
  for (const SessionDiagnostic& entry : report.diagnostics()) {
    diagnostics.push_back(finding_json<Json>(entry.diagnostic, static_cast<int64_t>(entry.launch)));
    diagnostics.back()["more_arrays"] = entry.more_arrays;
  }
  Json json = {
      {"schema", "warpsim.report/1"},       {"program", program}, {"device", device.id},
      {"launches", report.launches()},      {"kernels", kernels}, {"diagnostics", diagnostics},
      {"unsupported", report.unsupported()}};
  return tilewise::json_text(json, 1) + "\n";
}

}  // namespace warpsim::cudart
