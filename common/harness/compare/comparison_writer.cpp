#include "harness/compare/comparison.h"

namespace tilewise {

namespace {

Json write(const std::optional<Milliseconds>& time) {
  if (!time) return nullptr;
  return {{"median", time->median},
          {"low", time->low},
          {"high", time->high},
          {"repeats", time->repeats}};
}

Json write(const std::optional<ClockRange>& range) {
  if (!range) return nullptr;
  return {{"lowest", range->lowest}, {"highest", range->highest}};
}

Json write(const Contender& contender) {
  Json json;
  json["status"] = to_string(contender.status);
  json["message"] = contender.message;
  json["time_ms"] = write(contender.time_ms);
  json["rounds_ms"] = contender.rounds_ms;
  json["kernels"] = Json::array();
  for (const KernelEntry& kernel : contender.kernels) {
    json["kernels"].push_back(
        {{"name", kernel.name},
         {"mangled", kernel.mangled},
         {"grid", kernel.grid},
         {"block", kernel.block},
         {"shared_bytes", kernel.static_shared_bytes + kernel.dynamic_shared_bytes},
         {"registers", kernel.registers ? Json(*kernel.registers) : Json(nullptr)},
         {"occupancy", kernel.occupancy ? Json(kernel.occupancy->fraction) : Json(nullptr)},
         {"launches", kernel.launches},
         {"time_ms", write(kernel.time_ms)}});
  }
  json["diagnostics"] = Json::array();
  for (const FoundFault& fault : contender.faults) {
    const warpsim::Diagnostic& d = fault.diagnostic;
    json["diagnostics"].push_back({{"code", warpsim::to_string(d.code)},
                                   {"message", d.message},
                                   {"kernel", d.kernel},
                                   {"count", d.count}});
  }
  json["verified"] = {{"rounds", contender.verified},
                      {"wrong", contender.wrong},
                      {"worst", contender.worst},  // null in the file where infinite
                      {"first_wrong", contender.first_wrong}};
  return json;
}

}  // namespace

std::string to_text(const Comparison& comparison, const plan::Plan& submission,
                    const std::string& device, const Json& gpu) {
  Json json;
  json["schema"] = "tilewise.comparison/1";
  json["case"] = submission.case_id;
  json["j"] = submission.j;
  json["k"] = submission.k;
  json["l"] = submission.l;
  json["device"] = device;
  json["rounds"] = comparison.rounds;
  json["contenders"] = Json::object();
  for (const Contender& contender : comparison.contenders)
    json["contenders"][contender.name] = write(contender);
  json["ratios"] = Json::object();
  for (const auto& [name, ratio] : comparison.ratios) {
    json["ratios"][name] = {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}};
  }
  json["floor_ms"] = comparison.floor_ms;
  json["cublas"] = comparison.cublas;
  json["clocks"] = {{"sm_mhz", write(comparison.sm_clock)},
                    {"memory_mhz", write(comparison.memory_clock)},
                    {"lowest_watts", comparison.lowest_watts},
                    {"highest_watts", comparison.highest_watts},
                    {"throttle_reasons", comparison.throttle_reasons}};
  json["gpu"] = gpu;
  return json_text(json, 1) + "\n";
}

}  // namespace tilewise
