#include <map>
#include <stdexcept>

#include "plan/check.h"
#include "plan/error.h"
#include "plan/files.h"
#include "plan/json_fields.h"
#include "plan/op_reader.h"
#include "plan/plan.h"

namespace tilewise::plan {

namespace {

template <typename Enum>
Enum choice(Fields& fields, const char* name, const std::map<std::string, Enum>& choices) {
  std::string text = fields.string(name);
  auto found = choices.find(text);
  if (found != choices.end()) return found->second;
  std::string known;
  for (const auto& [choice_name, value] : choices)
    known += (known.empty() ? "" : ", ") + choice_name;
  fields.fail(name, "expected one of " + known + ", found \"" + text + "\".");
}

void read_buffers(Fields& top, Plan& plan) {
  static const std::map<std::string, Role> kRoles = {{"input", Role::kInput},
                                                     {"output", Role::kOutput},
                                                     {"inout", Role::kInOut},
                                                     {"student", Role::kStudent},
                                                     {"symbol", Role::kSymbol}};
  const Json& json = top.array("buffers");
  for (size_t i = 0; i < json.size(); ++i) {
    Fields fields(json[i], element_path("buffers", i));
    Buffer buffer;
    buffer.id = fields.u32("id");
    if (buffer.id != i)
      fields.fail("id", "expected " + std::to_string(i) + ", the buffer's place in the list.");
    buffer.address = fields.address("address");
    buffer.bytes = fields.u64("bytes");
    if (buffer.bytes == 0) fields.fail("bytes", "a buffer has at least one byte.");
    if (buffer.address + buffer.bytes < buffer.address)
      fields.fail("bytes", "the buffer passes the address space's end.");
    buffer.name = fields.string("name");
    buffer.role = choice(fields, "role", kRoles);
    if (buffer.role == Role::kSymbol) {
      buffer.module = fields.u32("module");
      if (buffer.module >= plan.modules.size()) fields.fail("module", "there is no such module.");
      buffer.symbol = fields.string("symbol");
    }
    fields.finish();
    plan.buffers.push_back(std::move(buffer));
  }
}

void read_host(Fields& top, Plan& plan) {
  if (!top.has("host")) return;
  const Json& json = top.array("host");
  for (size_t i = 0; i < json.size(); ++i) {
    Fields fields(json[i], element_path("host", i));
    HostArray array{fields.string("name"), fields.u64("bytes")};
    fields.finish();
    plan.host.push_back(std::move(array));
  }
}

void read_head(Fields& top, Plan& plan) {
  std::string schema = top.string("schema");
  if (schema != "tilewise.plan/1")
    top.fail("schema", "expected \"tilewise.plan/1\", found \"" + schema + "\".");
  plan.case_id = top.string("case");
  try {
    plan.signature = signature_of(top.string("signature"));
    if (!plan.signature.is_product()) {
      plan.sizes = top.string("sizes");
      plan.arguments();
    }
  } catch (const std::invalid_argument& error) {
    top.fail("signature", std::string(error.what()) + ".");
  }
  auto side = [&](const char* name) {
    uint32_t value = top.u32(name);
    if (value < 1 || value > kLargestSide)
      top.fail(name, "expected 1 to " + std::to_string(kLargestSide) + ".");
    return value;
  };
  if (plan.signature.is_product()) {
    plan.j = side("j");
    plan.k = side("k");
    plan.l = side("l");
  }
  plan.device = top.string_or("device", "");
  plan.runtime = top.string_or("runtime", "");
  const Json& modules = top.array("modules");
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!modules[i].is_string()) throw FieldError(element_path("modules", i), "expected a string.");
    plan.modules.push_back(modules[i].get<std::string>());
  }
}

void read_tail(Fields& top, Plan& plan) {
  if (top.has("host_writes")) {
    Fields fields(top.object("host_writes"), "host_writes");
    plan.host_writes.count = fields.u64("count");
    plan.host_writes.first = fields.i64_or("first", -1);
    plan.host_writes.array = fields.string_or("array", "");
    fields.finish();
  }
  if (top.has("leaked_buffers")) {
    for (const Json& id : top.array("leaked_buffers")) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() >= plan.buffers.size())
        top.fail("leaked_buffers", "expected ids of buffers.");
      plan.leaked_buffers.push_back(id.get<uint32_t>());
    }
  }
  if (top.has("unchecked_errors")) {
    for (const Json& api : top.array("unchecked_errors")) {
      if (!api.is_string()) top.fail("unchecked_errors", "expected names of API calls.");
      plan.unchecked_errors.push_back(api.get<std::string>());
    }
  }
}

Plan read(const Json& json) {
  Plan plan;
  Fields top(json, "");
  read_head(top, plan);
  read_buffers(top, plan);
  read_host(top, plan);
  plan.ops = read_ops(plan, top.array("ops"), "ops");
  read_tail(top, plan);
  top.finish();
  check(plan);
  return plan;
}

}  // namespace

Plan parse(const std::string& text, const std::string& name) {
  try {
    return read(parse_json(text));
  } catch (const Json::parse_error& error) {
    throw PlanError("plan " + name + " is not JSON: byte " + std::to_string(error.byte) + ".");
  } catch (const Json::exception&) {  // a number that fits no type
    throw PlanError("plan " + name + " is not JSON: it holds a number out of range.");
  } catch (const FieldError& error) {
    throw PlanError("plan " + name + ": " + error.what());
  }
}

Plan load(const std::string& path) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const std::runtime_error& error) {
    throw HarnessError(error.what());
  }
  Plan plan = parse(text, path);
  for (std::string& module : plan.modules) module = beside(path, module);
  return plan;
}

}  // namespace tilewise::plan
