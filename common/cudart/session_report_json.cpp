#include <nlohmann/json.hpp>

#include "cudart/session_report.h"
#include "warpsim/counters_json.h"

namespace warpsim::cudart {

namespace {

using Json = nlohmann::ordered_json;

Json occupancy_json(const KernelReport& kernel, const Device& device, Json* limiter) {
  if (!kernel.registers) return nullptr;
  const LaunchReport& launch = kernel.first;
  Occupancy result =
      occupancy(device, kernel.registers, launch.static_shared_bytes + launch.dynamic_shared_bytes,
                launch.block[0] * launch.block[1] * launch.block[2]);
  *limiter = result.limiter;
  return result.fraction;
}

Json kernel_json(const KernelReport& kernel, const Device& device) {
  const LaunchReport& launch = kernel.first;
  Json lines = Json::array();
  for (const LineCounters& line : kernel.lines)
    lines.push_back({{"file", line.file},
                     {"line", line.line},
                     {"counters", counters_json<Json>(line.counters, device.counting_rule)}});
  Json limiter = nullptr;
  Json fraction = occupancy_json(kernel, device, &limiter);
  return {{"name", launch.kernel},
          {"mangled", launch.mangled},
          {"grid", launch.grid},
          {"block", launch.block},
          {"shared_bytes", launch.static_shared_bytes + launch.dynamic_shared_bytes},
          {"static_shared_bytes", launch.static_shared_bytes},
          {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
          {"local_bytes", launch.local_bytes},
          {"registers", kernel.registers ? Json(kernel.registers) : Json(nullptr)},
          {"occupancy", fraction},
          {"occupancy_limiter", limiter},
          {"launches", kernel.launches},
          {"seconds", kernel.seconds},
          {"sampling", sampling_json<Json>(kernel.sampling)},
          {"counters", counters_json<Json>(kernel.counters, device.counting_rule)},
          {"lines", lines}};
}

Json diagnostic_json(const SessionDiagnostic& entry) {
  const Diagnostic& d = entry.diagnostic;
  Json json = {
      {"code", d.code},       {"severity", d.severity == Severity::kError ? "error" : "warning"},
      {"message", d.message}, {"file", d.file},
      {"line", d.line},       {"kernel", d.kernel},
      {"block", d.block},     {"thread", d.thread},
      {"count", d.count},     {"launch", entry.launch}};
  if (!d.array.empty()) {
    json["array"] = d.array;
    json["offset_bytes"] = d.offset_bytes;
    json["array_bytes"] = d.array_bytes;
    json["access_bytes"] = d.access_bytes;
    json["is_store"] = d.is_store;
  }
  if (d.other_line || !d.other_file.empty()) {
    json["other_file"] = d.other_file;
    json["other_line"] = d.other_line;
    json["other_block"] = d.other_block;
    json["other_thread"] = d.other_thread;
  }
  return json;
}

}  // namespace

std::string to_json(const SessionReport& report, const Device& device, const std::string& program) {
  Json kernels = Json::array(), diagnostics = Json::array();
  for (const KernelReport& kernel : report.kernels())
    kernels.push_back(kernel_json(kernel, device));
  for (const SessionDiagnostic& entry : report.diagnostics())
    diagnostics.push_back(diagnostic_json(entry));
  Json json = {
      {"schema", "warpsim.report/1"},       {"program", program}, {"device", device.id},
      {"launches", report.launches()},      {"kernels", kernels}, {"diagnostics", diagnostics},
      {"unsupported", report.unsupported()}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpsim::cudart
