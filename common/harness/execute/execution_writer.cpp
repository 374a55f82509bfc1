#include "harness/execute/execution.h"
#include "warpsim/counters_json.h"
#include "warpsim/finding_json.h"

namespace tilewise {

namespace {

Json write(const std::optional<Milliseconds>& time) {
  if (!time) return nullptr;
  return {{"median", time->median},
          {"low", time->low},
          {"high", time->high},
          {"repeats", time->repeats}};
}

// `rule`: by which its counters were counted; none on a GPU.
Json write(const KernelEntry& kernel, std::optional<warpsim::CountingRule> rule) {
  Json json;
  json["name"] = kernel.name;
  json["mangled"] = kernel.mangled;
  json["grid"] = kernel.grid;
  json["block"] = kernel.block;
  json["shared_bytes"] = kernel.static_shared_bytes + kernel.dynamic_shared_bytes;
  json["static_shared_bytes"] = kernel.static_shared_bytes;
  json["dynamic_shared_bytes"] = kernel.dynamic_shared_bytes;
  json["local_bytes"] = kernel.local_bytes;
  json["registers"] = kernel.registers ? Json(*kernel.registers) : Json(nullptr);
  json["spilled_bytes"] = kernel.spilled_bytes ? Json(*kernel.spilled_bytes) : Json(nullptr);
  json["occupancy"] = kernel.occupancy ? Json(kernel.occupancy->fraction) : Json(nullptr);
  json["occupancy_limiter"] = kernel.occupancy ? Json(kernel.occupancy->limiter) : Json(nullptr);
  json["blocks_per_sm"] = kernel.occupancy ? Json(kernel.occupancy->blocks_per_sm) : Json(nullptr);
  json["launches"] = kernel.launches;
  json["counters"] = rule ? warpsim::counters_json<Json>(kernel.counters, *rule) : Json(nullptr);
  json["lines"] = Json::array();
  for (const auto& [place, counters] : kernel.lines) {
    json["lines"].push_back(
        {{"file", place.first},
         {"line", place.second},
         {"counters",
          warpsim::counters_json<Json>(counters, rule.value_or(warpsim::CountingRule::kSectors))}});
  }
  json["time_ms"] = write(kernel.time_ms);
  json["sampling"] = warpsim::sampling_json<Json>(kernel.sampling);
  add_prediction(kernel.prediction, kernel.no_prediction, json);
  json["seconds"] = kernel.seconds;
  return json;
}

Json write(const std::vector<plan::ApiError>& errors) {
  Json list = Json::array();
  for (const plan::ApiError& error : errors) {
    list.push_back({{"api", error.api},
                    {"code", error.code},
                    {"code_name", error.code_name},
                    {"message", error.message},
                    {"call", error.call}});
  }
  return list;
}

// What copies move, of which no kernel's counters know: pieces, one for a call or for each row of a
// copy by rows, and sectors that they read and write, on the device and by way of host memory of
// solve's own, where pieces can be put in another order as well. solve's arrays have to travel
// where they are on the host, and their sectors do not count. Pieces that follow each other, as the
// columns of a copy by rows do, share what both touch.
class Copied {
 public:
  explicit Copied(const plan::Plan& plan) : plan_(plan) {}
  void add(const plan::CopyOnDevice& op) {
    pieces_ += op.rows;
    const std::string source = place(op.source), target = place(op.buffer);
    for (uint64_t row = 0; row < op.rows; ++row) {
      loaded_ += from_.add(source, op.source_offset + row * op.source_pitch, op.bytes);
      stored_ += to_.add(target, op.offset + row * op.pitch, op.bytes);
    }
  }
  void add(const plan::CopyToHost& op) {
    ++pieces_;
    if (!is_own(op.host)) return;
    loaded_ += from_.add(place(op.buffer), op.buffer_offset, op.bytes);
    stored_ += to_.add(op.host, op.offset, op.bytes);
  }
  void add(const plan::CopyToDevice& op) {
    ++pieces_;
    uint64_t offset = op.offset;
    for (const plan::Segment& segment : op.segments) {
      const uint64_t bytes = segment.bytes;
      if (is_own(segment.host)) {
        loaded_ += from_.add(segment.host, segment.offset, bytes);
        stored_ += to_.add(place(op.buffer), offset, bytes);
      }
      offset += bytes;
    }
  }
  Json json() const {
    return {{"copied_load_sectors", loaded_},
            {"copied_store_sectors", stored_},
            {"copied_pieces", pieces_}};
  }

 private:
  static constexpr uint64_t kSector = 32;
  struct Side {
    std::string place;
    uint64_t last = 0;
    uint64_t add(const std::string& at, uint64_t offset, uint64_t bytes) {
      if (bytes == 0) return 0;
      const uint64_t first = offset / kSector, end = (offset + bytes - 1) / kSector;
      const bool shared = at == place && first == last;
      place = at, last = end;
      return end - first + (shared ? 0 : 1);
    }
  };
  // No host array has such a name.
  static std::string place(uint32_t buffer) { return "#" + std::to_string(buffer); }
  bool is_own(const std::string& host) const {
    uint32_t rows = 0, columns = 0;
    return !host.empty() && !plan_.shape(host, &rows, &columns);
  }
  const plan::Plan& plan_;
  Side from_, to_;
  uint64_t loaded_ = 0, stored_ = 0, pieces_ = 0;
};

Json copied(const plan::Plan& plan) {
  Copied all(plan);
  for (const plan::Op& op : plan.ops) {
    if (const auto* on_device = std::get_if<plan::CopyOnDevice>(&op)) all.add(*on_device);
    if (const auto* to_host = std::get_if<plan::CopyToHost>(&op)) all.add(*to_host);
    if (const auto* to_device = std::get_if<plan::CopyToDevice>(&op)) all.add(*to_device);
  }
  return all.json();
}

// Names, since a reader of the result does not know the plan's buffer ids.
Json leaked(const plan::Plan& plan) {
  Json list = Json::array();
  for (uint32_t id : plan.leaked_buffers) {
    list.push_back({{"name", plan.buffers[id].name}, {"bytes", plan.buffers[id].bytes}});
  }
  return list;
}

}  // namespace

void add_prediction(const std::optional<warpsim::Prediction>& prediction,
                    const std::string& no_prediction, Json& json) {
  json["predicted_ms"] = prediction ? Json(prediction->ms) : Json(nullptr);
  json["bound"] = prediction ? Json(prediction->bound) : Json(nullptr);
  json["prediction"] = nullptr;
  json["no_prediction"] = prediction || no_prediction.empty() ? Json(nullptr) : Json(no_prediction);
  if (!prediction) return;
  Json terms = Json::array();
  for (const warpsim::Term& term : prediction->terms)
    terms.push_back({{"name", term.name}, {"ms", term.ms}});
  json["prediction"] = {{"terms", std::move(terms)},
                        {"relief", prediction->relief},
                        {"waves", prediction->waves},
                        {"l1_hit_rate", prediction->l1_hit_rate},
                        {"code", prediction->from_machine_code ? "machine code" : "PTX"},
                        {"calibrated", prediction->calibrated},
                        {"error", prediction->error},
                        {"note", prediction->note}};
}

const char* to_string(Status status) {
  switch (status) {
    case Status::kOk:
      return "ok";
    case Status::kFault:
      return "fault";
    case Status::kTimeout:
      return "timeout";
    case Status::kLaunchConfig:
      return "launch-config";
    case Status::kUnsupported:
      return "unsupported";
    case Status::kError:
      return "error";
  }
  return "";
}

std::string to_text(const Execution& execution, const plan::Plan& plan, const std::string& backend,
                    const std::string& device, warpsim::CountingRule rule, const Json& gpu) {
  Json json;
  json["schema"] = "tilewise.execution/1";
  json["case"] = plan.case_id;
  json["backend"] = backend;
  json["device"] = device;
  json["status"] = to_string(execution.status);
  json["message"] = execution.message;
  json["diagnostics"] = Json::array();
  for (const FoundFault& fault : execution.faults)
    json["diagnostics"].push_back(warpsim::finding_json<Json>(fault.diagnostic, fault.launch));
  json["kernels"] = Json::array();
  for (const KernelEntry& kernel : execution.kernels)
    json["kernels"].push_back(write(kernel, gpu.is_null() ? std::optional(rule) : std::nullopt));
  json["launches"] = execution.launches;
  json["outputs"] = Json::object();
  for (const auto& [name, state] : execution.outputs) {
    json["outputs"][name] = {{"unwritten", state.unwritten},
                             {"first_unwritten", state.first_unwritten}};
  }
  json["inputs_modified"] = Json::array();
  for (const ModifiedInput& input : execution.modified_inputs) {
    json["inputs_modified"].push_back(
        {{"name", input.name}, {"first_index", input.first_index}, {"count", input.count}});
  }
  json["errors"] = write(execution.errors);
  json["unchecked_errors"] = plan.unchecked_errors;
  json["leaked_buffers"] = leaked(plan);
  json["copies"] = copied(plan);
  json["host_writes"] = {{"count", plan.host_writes.count}, {"first", plan.host_writes.first}};
  json["printf"] = execution.printed;
  json["time_ms"] = write(execution.time_ms);
  json["gpu"] = gpu;
  json["provenance"] = execution.provenance;
  json["factors"] = execution.factors;
  json["seconds"] = execution.seconds;
  // Kernels may print any bytes: what is no UTF-8 becomes a replacement character.
  return json_text(json, 1) + "\n";
}

}  // namespace tilewise
