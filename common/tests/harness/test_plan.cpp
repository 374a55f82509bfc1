#include <functional>

#include "harness/plan/error.h"
#include "harness/plan/files.h"
#include "harness/plan/json_fields.h"
#include "harness/plan/plan.h"
#include "tests/catch.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
namespace t = tilewise::testing;

namespace {

// A plan that uses every operation.
plan::Plan full_plan() {
  plan::Plan plan = t::device_plan(4, "module0.ptx");
  plan.buffers.push_back({3, 0x2a0000300000, 256, "cudaMalloc #1", plan::Role::kStudent, 0, ""});
  plan.buffers.push_back({4, 0x2a0000400000, 64, "table", plan::Role::kSymbol, 0, "table"});
  plan::Launch launch = t::launch("_Z3addPKfS0_Pfi", 4);
  launch.relocations[2].addend = 16;
  plan.ops = {
      plan::Malloc{3},
      plan::CopyToDevice{
          3, 8, 4, {{"", 0, 4, {std::byte{1}, std::byte{0xab}, std::byte{0}, std::byte{255}}}}, 0},
      plan::CopyOnDevice{3, 0, 0, 16, 32, 1},
      plan::Memset{3, 0, 255, 256, 0},
      plan::SymbolWrite{0, "c_table", 4, {{"", 0, 1, {std::byte{7}}}}},
      plan::SetAttribute{0, "_Z3addPKfS0_Pfi", "max_dynamic_shared_bytes", 65536},
      launch,
      plan::Sync{},
      plan::ApiError{"cudaMemcpy", 1, "cudaErrorInvalidValue", "invalid argument"},
      plan::Unsupported{"cudaGraphLaunch", ""},
      plan::Unsupported{"cudaMemcpy", "Too much was moved."},
      plan::Free{3}};
  plan.host_writes = {3, 7};
  plan.leaked_buffers = {3};
  plan.unchecked_errors = {"cudaMemcpy"};
  return plan;
}

std::string message_of(const std::string& text) {
  try {
    plan::parse(text, "x.plan.json");
  } catch (const HarnessError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A plan that uses every operation survives writing and reading") {
  std::string text = plan::to_text(full_plan());
  plan::Plan plan = plan::parse(text, "x");
  CHECK(plan::to_text(plan) == text);
  CHECK(plan.ops.size() == 12);
  const auto& launch = std::get<plan::Launch>(plan.ops[6]);
  CHECK(launch.relocations[2].addend == 16);
  CHECK(launch.block[1] == 4);
  CHECK(plan.buffers[4].symbol == "table");
  CHECK(plan.host_writes.first == 7);
}

TEST_CASE("A host-pointer plan survives writing and reading") {
  std::string text = plan::to_text(t::host_plan(4, "module0.ptx", "add"));
  CHECK(plan::to_text(plan::parse(text, "x")) == text);
}

TEST_CASE("A plan's modules are found beside it") {
  t::TemporaryFolder folder;
  std::string path = folder.put("w4.plan.json", plan::to_text(full_plan()));
  CHECK(plan::load(path).modules[0] == folder.file("module0.ptx"));
  REQUIRE_THROWS_AS(plan::load(folder.file("none.plan.json")), HarnessError);
}

TEST_CASE("A bad plan is refused with one sentence that names the field") {
  struct Fault {
    const char* path;      // JSON pointer of what is changed
    Json value;            // null: removed
    const char* expected;  // part of the message
  };
  const Fault faults[] = {
      {"/schema", "tilewise.plan/2", "schema: expected \"tilewise.plan/1\""},
      {"/case", nullptr, "case: missing."},
      {"/case", 7, "case: expected a string, found 7."},
      {"/signature", "square",
       "signature: expected one of rect-device, square-device, square-host"},
      {"/j", 0, "j: expected 1 to"},
      {"/j", 5, "signature: square-device takes square matrices"},
      {"/k", -3, "k: expected a whole number >= 0, found -3."},
      {"/l", 4.5, "l: expected a whole number >= 0, found 4.5."},
      {"/modules/0", 1, "modules[0]: expected a string."},
      {"/modules", Json::array(), "buffers[4].module: there is no such module."},
      {"/buffers", Json::object(), "buffers: expected an array"},
      {"/buffers/1", "N", "buffers[1]: expected an object"},
      {"/buffers/1/id", 2, "buffers[1].id: expected 1"},
      {"/buffers/1/address", "2a00", "buffers[1].address: expected an address"},
      {"/buffers/1/address", "0x2a0g", "buffers[1].address: expected an address"},
      {"/buffers/1/bytes", 0, "buffers[1].bytes: a buffer has at least one byte."},
      {"/buffers/1/bytes", 60, "buffers: N has 60 bytes, its shape needs 64."},
      {"/buffers/1/name", "Q", "buffers: expected one entry for N."},
      {"/buffers/1/role", "tmp", "buffers[1].role: expected one of input, output, student, symbol"},
      {"/buffers/1/note", "hello", "buffers[1].note: unknown field."},
      {"/ops/0/op", "mallok", "ops[0].op: unknown operation \"mallok\"."},
      {"/ops/0/buffer", 0, "ops[0].buffer: buffer 0 is no student's buffer."},
      {"/ops/0/buffer", 9, "ops[0].buffer: there is no buffer 9."},
      {"/ops/1/offset", 254,
       "ops[1].offset: 4 bytes at offset 254 do not fit into buffer 3 of 256 bytes."},
      {"/ops/1/bytes", 5, "ops[1].segments: they hold 4 bytes, the copy 5."},
      {"/ops/1/segments/0/hex", "01a",
       "ops[1].segments[0].hex: expected two hexadecimal digits a byte"},
      {"/ops/1/segments/0/hex", "01xx0203",
       "ops[1].segments[0].hex: not a hexadecimal digit at position 2."},
      {"/ops/1/segments/0", Json{{"host", "M"}, {"offset", 0}, {"bytes", 4}},
       "there is no host array \"M\"."},
      {"/ops/2/source_offset", 18446744073709551615ull,
       "ops[2].source_offset: 32 bytes at offset 18446744073709551615"},
      {"/ops/3/value", 256, "ops[3].value: expected a byte"},
      {"/ops/4/module", 1, "ops[4].module: there is no module 1."},
      {"/ops/5/attribute", "carve", "ops[5].attribute: unknown attribute \"carve\"."},
      {"/ops/6/grid", Json{1, 1}, "ops[6].grid: expected three whole numbers >= 0."},
      {"/ops/6/block", Json{1, -1, 1}, "ops[6].block: expected three whole numbers >= 0."},
      {"/ops/6/shared_bytes", 4294967296,
       "ops[6].shared_bytes: expected a whole number below 2^32"},
      {"/ops/6/params", "00",
       "ops[6].relocations[0].offset: 8 bytes at offset 0 do not fit into a parameter block of 1"},
      {"/ops/6/relocations/1/buffer", 12, "ops[6].relocations[1].buffer: there is no buffer 12."},
      {"/ops/8/code", "one", "ops[8].code: expected a whole number"},
      {"/host_writes/count", nullptr, "host_writes.count: missing."},
      {"/leaked_buffers/0", 77, "leaked_buffers: expected ids of buffers."},
      {"/unchecked_errors/0", 1, "unchecked_errors: expected names"},
      {"/comment", "hi", "comment: unknown field."},
  };
  const Json good = Json::parse(plan::to_text(full_plan()));
  REQUIRE(message_of(good.dump()) == "");
  for (const Fault& fault : faults) {
    Json json = good;
    Json::json_pointer pointer(fault.path);
    if (fault.value.is_null()) {
      json[pointer.parent_pointer()].erase(pointer.back());
    } else {
      json[pointer] = fault.value;
    }
    CAPTURE(fault.path, fault.expected);
    std::string message = message_of(json.dump());
    CAPTURE(message);
    CHECK(message.rfind("plan x.plan.json: ", 0) == 0);
    CHECK(t::contains(message, fault.expected));
  }
}

TEST_CASE("Text that is no JSON is refused with the place") {
  CHECK(t::contains(message_of("{\"schema\": "), "is not JSON: byte"));
  CHECK(t::contains(message_of("[]"), "top level: expected an object"));
  CHECK(t::contains(message_of(""), "is not JSON"));
}

TEST_CASE("What a student may get wrong is let through") {
  plan::Plan plan = full_plan();
  plan::Launch& launch = std::get<plan::Launch>(plan.ops[6]);
  launch.block = {2048, 0, 1};
  launch.relocations[0].addend = -4;
  CHECK(message_of(plan::to_text(plan)) == "");
}
