#include <cstdio>

#include "plan/json_fields.h"
#include "plan/plan.h"

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
    if (segment.host.empty()) {
      list.push_back({{"hex", to_hex(segment.literal)}});
    } else {
      list.push_back(
          {{"host", segment.host}, {"offset", segment.offset}, {"bytes", segment.bytes}});
    }
  }
  return list;
}

struct OpWriter {
  Json operator()(const Malloc& op) const { return {{"op", "malloc"}, {"buffer", op.buffer}}; }
  Json operator()(const Free& op) const { return {{"op", "free"}, {"buffer", op.buffer}}; }
  Json operator()(const CopyToDevice& op) const {
    return {{"op", "copy_h2d"},
            {"buffer", op.buffer},
            {"offset", op.offset},
            {"bytes", op.bytes},
            {"segments", write(op.segments)},
            {"stream", op.stream}};
  }
  Json operator()(const CopyToHost& op) const {
    return {{"op", "copy_d2h"},
            {"host", op.host},
            {"offset", op.offset},
            {"buffer", op.buffer},
            {"buffer_offset", op.buffer_offset},
            {"bytes", op.bytes},
            {"stream", op.stream}};
  }
  Json operator()(const CopyOnDevice& op) const {
    return {{"op", "copy_d2d"},
            {"buffer", op.buffer},
            {"offset", op.offset},
            {"source", op.source},
            {"source_offset", op.source_offset},
            {"bytes", op.bytes},
            {"stream", op.stream}};
  }
  Json operator()(const Memset& op) const {
    return {{"op", "memset"},    {"buffer", op.buffer}, {"offset", op.offset},
            {"value", op.value}, {"bytes", op.bytes},   {"stream", op.stream}};
  }
  Json operator()(const SymbolWrite& op) const {
    return {{"op", "symbol_write"},
            {"module", op.module},
            {"symbol", op.symbol},
            {"offset", op.offset},
            {"segments", write(op.segments)}};
  }
  Json operator()(const SetAttribute& op) const {
    return {{"op", "set_attribute"},
            {"module", op.module},
            {"kernel", op.kernel},
            {"attribute", op.attribute},
            {"value", op.value}};
  }
  Json operator()(const Launch& op) const {
    Json relocations = Json::array();
    for (const Relocation& r : op.relocations) {
      relocations.push_back({{"offset", r.offset}, {"buffer", r.buffer}, {"addend", r.addend}});
    }
    return {{"op", "launch"},      {"module", op.module},         {"kernel", op.kernel},
            {"grid", op.grid},     {"block", op.block},           {"shared_bytes", op.shared_bytes},
            {"stream", op.stream}, {"params", to_hex(op.params)}, {"relocations", relocations}};
  }
  Json operator()(const Sync&) const { return {{"op", "sync"}}; }
  Json operator()(const ApiError& op) const {
    Json json = {{"op", "error"}, {"api", op.api}, {"code", op.code}, {"message", op.message}};
    if (!op.code_name.empty()) json["code_name"] = op.code_name;
    return json;
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
  return json.dump() + "\n";
}

}  // namespace tilewise::plan
