#include <cstdio>

#include "plan/json_fields.h"
#include "plan/plan.h"
#include "plan/tensor_map.h"

namespace tilewise::plan {

namespace {

std::string address_text(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

Json write(const std::vector<Segment>& segments) {
  Json list = Json::array();
  for (const Segment& segment : segments) {
    if (segment.map) {
      list.push_back({{"tensor_map", to_json(*segment.map)}});
    } else if (segment.host.empty()) {
      list.push_back({{"hex", to_hex(segment.literal)}});
    } else {
      list.push_back(
          {{"host", segment.host}, {"offset", segment.offset}, {"bytes", segment.bytes}});
    }
  }
  return list;
}

Json with_call(Json json, uint64_t call) {
  if (call != 0) json["call"] = call;
  return json;
}

template <class Op>
Json life(const char* name, const Op& op) {
  Json json = {{"op", name}, {"buffer", op.buffer}};
  if (op.in_stream) json["stream"] = op.stream;
  return with_call(std::move(json), op.call);
}

const char* to_string(WaitsFor what) {
  return what == WaitsFor::kDevice ? "device" : what == WaitsFor::kStream ? "stream" : "event";
}

const char* to_string(EarlyUse::Kind kind) {
  using Kind = EarlyUse::Kind;
  return kind == Kind::kRead ? "read" : kind == Kind::kWrite ? "write" : "return";
}

constexpr const char* kSides[] = {"none", "host", "device", "freed"};  // of AskedSide::Kind

Json write(const AskedSide& side) {
  Json json = {{"kind", kSides[static_cast<int>(side.kind)]}};
  if (!side.array.empty()) json["array"] = side.array;
  if (side.kind == AskedSide::Kind::kDevice || side.kind == AskedSide::Kind::kFreed) {
    json["buffer"] = side.buffer;
    json["room"] = side.room;
  }
  return json;
}

Json write(const Asked& asked) {
  return {{"to", write(asked.to)},
          {"from", write(asked.from)},
          {"bytes", asked.bytes},
          {"direction", asked.direction}};
}

struct OpWriter {
  Json operator()(const Malloc& op) const { return life("malloc", op); }
  Json operator()(const Free& op) const { return life("free", op); }
  Json operator()(const CopyToDevice& op) const {
    return with_call({{"op", "copy_h2d"},
                      {"buffer", op.buffer},
                      {"offset", op.offset},
                      {"bytes", op.bytes},
                      {"segments", write(op.segments)},
                      {"stream", op.stream}},
                     op.call);
  }
  Json operator()(const CopyToHost& op) const {
    return with_call({{"op", "copy_d2h"},
                      {"host", op.host},
                      {"offset", op.offset},
                      {"buffer", op.buffer},
                      {"buffer_offset", op.buffer_offset},
                      {"bytes", op.bytes},
                      {"stream", op.stream}},
                     op.call);
  }
  Json operator()(const CopyOnDevice& op) const {
    Json json = {{"op", "copy_d2d"},
                 {"buffer", op.buffer},
                 {"offset", op.offset},
                 {"source", op.source},
                 {"source_offset", op.source_offset},
                 {"bytes", op.bytes},
                 {"stream", op.stream}};
    if (op.rows > 1) {
      json["rows"] = op.rows;
      json["pitch"] = op.pitch;
      json["source_pitch"] = op.source_pitch;
    }
    return with_call(std::move(json), op.call);
  }
  Json operator()(const Memset& op) const {
    Json json = {{"op", "memset"},    {"buffer", op.buffer}, {"offset", op.offset},
                 {"value", op.value}, {"bytes", op.bytes},   {"stream", op.stream}};
    if (op.rows > 1) {
      json["rows"] = op.rows;
      json["pitch"] = op.pitch;
    }
    return with_call(std::move(json), op.call);
  }
  Json operator()(const SymbolWrite& op) const {
    Json json = {{"op", "symbol_write"},
                 {"module", op.module},
                 {"symbol", op.symbol},
                 {"offset", op.offset},
                 {"segments", write(op.segments)}};
    if (op.stream != 0) json["stream"] = op.stream;
    return with_call(std::move(json), op.call);
  }
  Json operator()(const SetAttribute& op) const {
    return {{"op", "set_attribute"},
            {"module", op.module},
            {"kernel", op.kernel},
            {"attribute", op.attribute},
            {"value", op.value}};
  }
  Json operator()(const SetHeap& op) const { return {{"op", "set_heap"}, {"bytes", op.bytes}}; }
  Json operator()(const SetStack& op) const { return {{"op", "set_stack"}, {"bytes", op.bytes}}; }
  Json operator()(const Launch& op) const {
    Json relocations = Json::array();
    for (const Relocation& r : op.relocations) {
      relocations.push_back({{"offset", r.offset}, {"buffer", r.buffer}, {"addend", r.addend}});
    }
    Json json = {
        {"op", "launch"},      {"module", op.module},         {"kernel", op.kernel},
        {"grid", op.grid},     {"block", op.block},           {"shared_bytes", op.shared_bytes},
        {"stream", op.stream}, {"params", to_hex(op.params)}, {"relocations", relocations}};
    if (op.is_cooperative) json["cooperative"] = 1;
    if (op.is_early) json["early"] = 1;
    for (const ParameterMap& map : op.maps)
      json["maps"].push_back({{"offset", map.offset}, {"tensor_map", to_json(map.is)}});
    return with_call(std::move(json), op.call);
  }
  Json operator()(const Sync& op) const {
    Json json = {{"op", "sync"}};
    if (op.what != WaitsFor::kDevice) json[to_string(op.what)] = op.id;
    return json;
  }
  Json operator()(const MakeStream& op) const {
    return {{"op", "make_stream"}, {"stream", op.stream}, {"blocking", op.is_blocking ? 1 : 0}};
  }
  Json operator()(const RecordEvent& op) const {
    return {{"op", "record_event"}, {"event", op.event}, {"stream", op.stream}};
  }
  Json operator()(const WaitForEvent& op) const {
    return {{"op", "wait_for_event"}, {"stream", op.stream}, {"event", op.event}};
  }
  Json operator()(const EarlyUse& op) const {
    return {{"op", "early_use"},         {"kind", to_string(op.kind)},
            {"buffer", op.buffer},       {"offset", op.offset},
            {"bytes", op.bytes},         {"stream", op.stream},
            {"copy_call", op.copy_call}, {"call", op.call}};
  }
  Json operator()(const ApiError& op) const {
    Json json = {{"op", "error"}, {"api", op.api}, {"code", op.code}, {"message", op.message}};
    if (!op.code_name.empty()) json["code_name"] = op.code_name;
    if (op.asked) json["asked"] = write(*op.asked);
    return with_call(std::move(json), op.call);
  }
  Json operator()(const Unsupported& op) const {
    Json json = {{"op", "unsupported"}, {"api", op.api}};
    if (!op.reason.empty()) json["reason"] = op.reason;
    return json;
  }
};

}  // namespace

const char* to_string(Role role) {
  switch (role) {
    case Role::kInput:
      return "input";
    case Role::kOutput:
      return "output";
    case Role::kInOut:
      return "inout";
    case Role::kStudent:
      return "student";
    case Role::kSymbol:
      return "symbol";
  }
  return "";
}

bool Plan::shape(const std::string& name, uint32_t* rows, uint32_t* columns) const {
  const int index = signature.array(name);
  if (index < 0) return false;
  const Argument argument = arguments()[static_cast<size_t>(index)];
  *rows = argument.rows;
  *columns = argument.columns;
  return true;
}

std::vector<Argument> Plan::arguments() const {
  return signature.is_product() ? arguments_of(signature, j, k, l) : arguments_of(signature, sizes);
}

std::string Plan::written_by_host() const {
  return host_writes.array.empty() ? signature.outputs().at(0) : host_writes.array;
}

std::string to_text(const Plan& plan) {
  Json json;
  json["schema"] = "tilewise.plan/1";
  json["case"] = plan.case_id;
  json["signature"] = to_string(plan.signature);
  if (plan.signature.is_product()) {
    json["j"] = plan.j;
    json["k"] = plan.k;
    json["l"] = plan.l;
  } else {
    json["sizes"] = plan.sizes;
  }
  json["device"] = plan.device;
  json["runtime"] = plan.runtime;
  json["modules"] = plan.modules;
  json["buffers"] = Json::array();
  for (const Buffer& buffer : plan.buffers) {
    Json entry = {{"id", buffer.id},
                  {"address", address_text(buffer.address)},
                  {"bytes", buffer.bytes},
                  {"name", buffer.name},
                  {"role", to_string(buffer.role)}};
    if (buffer.role == Role::kSymbol) {
      entry["module"] = buffer.module;
      entry["symbol"] = buffer.symbol;
    }
    json["buffers"].push_back(entry);
  }
  json["host"] = Json::array();
  for (const HostArray& array : plan.host)
    json["host"].push_back({{"name", array.name}, {"bytes", array.bytes}});
  json["ops"] = Json::array();
  for (const Op& op : plan.ops) json["ops"].push_back(std::visit(OpWriter{}, op));
  json["host_writes"] = {{"count", plan.host_writes.count}, {"first", plan.host_writes.first}};
  if (!plan.host_writes.array.empty()) json["host_writes"]["array"] = plan.host_writes.array;
  json["leaked_buffers"] = plan.leaked_buffers;
  json["unchecked_errors"] = plan.unchecked_errors;
  return json_text(json) + "\n";
}

}  // namespace tilewise::plan
