#include "plan/plan.h"

#include <ctime>
#include <filesystem>
#include <functional>
#include <set>
#include <variant>

#include "plan/check.h"
#include "plan/error.h"
#include "plan/files.h"
#include "plan/json_fields.h"
#include "tests/catch.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
namespace t = tilewise::testing;

namespace {

// A plan that uses every operation.
plan::Plan full_plan() {
  plan::Plan plan = t::device_plan(4, "module0.ptx");
  plan.buffers.push_back({3, 0x2a6b20300000, 256, "cudaMalloc #1", plan::Role::kStudent, 0, ""});
  plan.buffers.push_back({4, 0x2a6b20400000, 64, "table", plan::Role::kSymbol, 0, "table"});
  plan.buffers.push_back({5, 0x2a6b20500000, 64, "cudaMalloc #2", plan::Role::kStudent, 0, ""});
  plan::Launch launch = t::launch("_Z3addPKfS0_Pfi", 4);
  launch.relocations[2].addend = 16;
  plan::Launch together = launch;
  together.is_cooperative = together.is_early = true;
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
      plan::ApiError{"cudaMemcpy", 1, "cudaErrorInvalidValue", "invalid argument", 0,
                     plan::Asked{{plan::AskedSide::Kind::kHost, "P"},
                                 {plan::AskedSide::Kind::kFreed, "", 3, 256},
                                 512,
                                 2}},
      plan::Unsupported{"cudaGraphLaunch", ""},
      plan::Unsupported{"cudaMemcpy", "Too much was moved."},
      plan::Free{3},
      plan::Malloc{5},
      together,
      plan::SetHeap{64 << 20},
      plan::SetStack{4096},
      plan::CopyOnDevice{2, 0, 0, 16, 4, 1, 0, 3, 16, 8},
      plan::Memset{2, 8, 0, 4, 0, 0, 4, 16},
      plan::MakeStream{1, false},
      plan::CopyToHost{"staging #0", 8, 2, 16, 4, 1, 90},
      plan::RecordEvent{2, 1},
      plan::WaitForEvent{0, 2},
      plan::EarlyUse{plan::EarlyUse::Kind::kRead, 2, 16, 4, 1, 90, 95},
      plan::Sync{plan::WaitsFor::kStream, 1},
      plan::Sync{plan::WaitsFor::kEvent, 2}};
  plan.host.push_back({"staging #0", 32});
  plan.host_writes = {3, 7, ""};
  plan.leaked_buffers = {5};
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

TEST_CASE("A plan of very many operations is read in time that grows with their number") {
  plan::Plan plan = t::device_plan(256, "module0.ptx");
  constexpr uint32_t kMany = 4 * 256 * 256;
  for (uint32_t i = 0; i < kMany; ++i) plan.ops.push_back(plan::Memset{2, i, 0, 1});
  const std::string text = plan::to_text(plan);
  const std::clock_t start = std::clock();
  CHECK(plan::parse(text, "x").ops.size() == kMany);
  // It took minutes while each object was looked for in all of those before it.
  CHECK(double(std::clock() - start) / CLOCKS_PER_SEC < 15);
}

TEST_CASE("A plan that uses every operation survives writing and reading") {
  std::string text = plan::to_text(full_plan());
  plan::Plan plan = plan::parse(text, "x");
  CHECK(plan::to_text(plan) == text);
  REQUIRE(plan.ops.size() == 25);
  std::set<size_t> kinds;
  for (const plan::Op& op : plan.ops) kinds.insert(op.index());
  CHECK(kinds.size() == std::variant_size_v<plan::Op>);
  const auto& copied = std::get<plan::CopyOnDevice>(plan.ops[16]);
  CHECK((copied.rows == 3 && copied.pitch == 16 && copied.source_pitch == 8));
  const auto& filled = std::get<plan::Memset>(plan.ops[17]);
  CHECK((filled.rows == 4 && filled.pitch == 16));
  CHECK(std::get<plan::SetHeap>(plan.ops[14]).bytes == 64 << 20);
  CHECK(std::get<plan::SetStack>(plan.ops[15]).bytes == 4096);
  const auto& launch = std::get<plan::Launch>(plan.ops[6]);
  CHECK(launch.relocations[2].addend == 16);
  CHECK_FALSE(launch.is_cooperative);
  CHECK(std::get<plan::Launch>(plan.ops[13]).is_cooperative);
  CHECK(std::get<plan::Launch>(plan.ops[13]).is_early);
  CHECK_FALSE(launch.is_early);
  CHECK(launch.block[1] == 4);
  CHECK(plan.buffers[4].symbol == "table");
  CHECK(plan.host_writes.first == 7);
}

namespace {

// A kernel's second parameter, and what a copy brings: a map of N, 4 x 4 floats in boxes of 2 x 4.
plan::Plan plan_with_maps() {
  plan::Plan plan = t::device_plan(4, "module0.ptx");
  plan::BufferMap map{.buffer = 1, .addend = 16, .map = {}};
  map.map.size = {3, 2};
  map.map.stride = {16};
  map.map.box = {4, 2};
  map.map.step = {1, 1};
  map.map.dimensions = 2;
  map.map.element_bytes = 4;
  map.map.type = 7;
  map.map.swizzle = 1;
  map.map.promotion = 2;
  plan.buffers.push_back({3, 0x2a6b20300000, 256, "cudaMalloc #1", plan::Role::kStudent, 0, ""});
  plan::Launch launch = t::launch("add", 4);
  launch.params.resize(320);
  launch.maps = {{64, map}, {192, map}};
  plan.ops = {
      plan::Malloc{3},
      plan::CopyToDevice{3,
                         64,
                         132,
                         {{"", 0, 4, {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}, {}},
                          {"", 0, 128, {}, map}},
                         0},
      launch, plan::Free{3}};
  return plan;
}

}  // namespace

TEST_CASE("A plan with tensor maps survives writing and reading") {
  const std::string text = plan::to_text(plan_with_maps());
  const plan::Plan plan = plan::parse(text, "x");
  CHECK(plan::to_text(plan) == text);
  const auto& maps = std::get<plan::Launch>(plan.ops[2]).maps;
  REQUIRE(maps.size() == 2);
  CHECK((maps[1].offset == 192 && maps[1].is.buffer == 1 && maps[1].is.addend == 16));
  CHECK((maps[1].is.map.size[1] == 2 && maps[1].is.map.stride[0] == 16));
  CHECK(std::get<plan::CopyToDevice>(plan.ops[1]).segments[1].map->map.swizzle == 1);
}

// The fuzzer's changes copy fields, and make up no names.
TEST_CASE(
    "Every operation and field of a plan stands in a seed of the fuzzer, which is carried out") {
  auto add = [](const Json& plan, std::set<std::string>* names) {
    for (const Json& op : plan["ops"])
      for (const auto& field : op.items())
        names->insert(op["op"].get<std::string>() + "." + field.key());
  };
  std::set<std::string> seeds, all;
  for (const auto& file : std::filesystem::directory_iterator(TILEWISE_PLAN_SEEDS)) {
    CAPTURE(file.path().string());
    const std::string text = read_file(file.path().string());
    const plan::Plan plan = plan::parse(text, "seed");
    CHECK_NOTHROW(check_case(plan, {"w4", plan.signature, 4, 4, 4, ""}));
    add(Json::parse(text), &seeds);
  }
  add(Json::parse(plan::to_text(full_plan())), &all);
  add(Json::parse(plan::to_text(plan_with_maps())), &all);
  for (const std::string& name : all) {
    CAPTURE(name);
    CHECK(seeds.count(name) == 1);
  }
}

TEST_CASE("A tensor map that no driver would have made is refused") {
  struct Fault {
    const char* path;
    Json value;
    const char* expected;
  };
  const Fault faults[] = {
      {"/maps/0/offset", 32, "ops[2].maps[0].offset: expected a multiple of 64"},
      {"/maps/1/offset", 128, "ops[2].maps[1].offset: expected a multiple of 64 behind the map"},
      {"/maps/1/offset", 256, "ops[2].maps[1].offset: 128 bytes at offset 256 do not fit"},
      {"/maps", 3, "ops[2].maps: expected an array"},
      {"/maps/0/tensor_map/buffer", 9, "tensor_map.buffer: there is no buffer 9."},
      {"/maps/0/tensor_map/addend", 8, "globalAddress is no multiple of 16: 8 beyond one"},
      {"/maps/0/tensor_map/addend", UINT64_MAX, "addend: more than a device has addresses."},
      {"/maps/0/tensor_map/type", 13, "tensorDataType is 13"},
      {"/maps/0/tensor_map/type", 300, "type: expected at most 255, found 300."},
      {"/maps/0/tensor_map/swizzle", 4, "swizzle: expected at most 3, found 4."},
      {"/maps/0/tensor_map/sizes", Json::array(), "sizes: a tensor has 1 to 5 dimensions."},
      {"/maps/0/tensor_map/sizes", Json{4}, "strides, box and steps are not of as many"},
      {"/maps/0/tensor_map/sizes", Json::array({4, 0}), "sizes: expected 1 to 2^32 elements."},
      {"/maps/0/tensor_map/strides", Json::array({20}), "globalStrides[0] is 20 bytes"},
      {"/maps/0/tensor_map/strides", Json::array({-16}), "strides: expected whole numbers"},
      {"/maps/0/tensor_map/box", Json::array({4, 65538}), "boxDim[1] is 65535: a box has 1 to 256"},
      {"/maps/0/tensor_map/box", Json::array({16, 2}),
       "boxDim[0] is 16 elements of 4, 64 bytes: at most the 32"},
      {"/maps/0/tensor_map/box", Json::array({3, 2}), "12 bytes: a multiple of 16"},
      {"/maps/0/tensor_map/steps", Json::array({1, 0}), "elementStrides[1] is 0: 1 to 8"},
      {"/maps/0/tensor_map/other", 1, "tensor_map.other: unknown field."},
  };
  const Json good = Json::parse(plan::to_text(plan_with_maps()));
  REQUIRE(message_of(good.dump()) == "");
  for (const Fault& fault : faults) {
    Json json = good;
    json[Json::json_pointer(std::string("/ops/2") + fault.path)] = fault.value;
    CAPTURE(fault.path, fault.expected);
    const std::string message = message_of(json.dump());
    CAPTURE(message);
    CHECK(t::contains(message, fault.expected));
  }
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
       "signature: expected one of rect-device, square-device, square-host, "},
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
      {"/buffers/1/name", "Q", "buffers: expected one entry for M, N and P each"},
      {"/buffers/1/role", "tmp",
       "buffers[1].role: expected one of inout, input, output, student, symbol"},
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
      {"/ops/8/asked/to/kind", "gone",
       "ops[8].asked.to.kind: expected none, host, device or freed"},
      {"/ops/8/asked/from/buffer", 9, "ops[8].asked.from.buffer: there is no buffer 9."},
      {"/ops/6/cooperative", 2, "ops[6].cooperative: expected 0 or 1."},
      {"/ops/6/cooperative", true, "ops[6].cooperative: expected"},
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

namespace {

// The sentence with which a text is refused that is `good` with one part replaced.
std::string refusal(const Json& good, const char* path, const Json& value) {
  Json json = good;
  json[Json::json_pointer(path)] = value;
  return message_of(json.dump());
}

Json buffer(uint32_t id, const char* address, uint64_t bytes, const char* name, const char* role) {
  return {{"id", id}, {"address", address}, {"bytes", bytes}, {"name", name}, {"role", role}};
}

}  // namespace

TEST_CASE("No boolean, text, fraction or list stands for a number") {
  const Json good = Json::parse(plan::to_text(full_plan()));
  const char* const numbers[] = {"/j",
                                 "/k",
                                 "/l",
                                 "/buffers/0/id",
                                 "/buffers/0/bytes",
                                 "/ops/0/buffer",
                                 "/ops/1/offset",
                                 "/ops/1/bytes",
                                 "/ops/1/stream",
                                 "/ops/2/source",
                                 "/ops/3/value",
                                 "/ops/4/module",
                                 "/ops/5/value",
                                 "/ops/6/grid/0",
                                 "/ops/6/shared_bytes",
                                 "/ops/6/relocations/0/offset",
                                 "/ops/6/relocations/0/addend",
                                 "/ops/8/code",
                                 "/host_writes/count",
                                 "/host_writes/first",
                                 "/leaked_buffers/0"};
  const Json forged[] = {true, false, "4", "", 4.0, 0.5, Json::array({4}), Json::object(), nullptr};
  for (const char* path : numbers) {
    for (const Json& value : forged) {
      CAPTURE(path, value.dump());
      CHECK(t::contains(refusal(good, path, value), "plan x.plan.json: "));
    }
  }
}

TEST_CASE("No other buffer or host array takes the part of a matrix") {
  const Json device = Json::parse(plan::to_text(t::device_plan(4, "module0.ptx")));
  const Json host = Json::parse(plan::to_text(t::host_plan(4, "module0.ptx", "add")));
  REQUIRE(message_of(device.dump()) == "");
  REQUIRE(message_of(host.dump()) == "");
  const char* high = "0x2a6b20900000";
  // A P that is an input, and larger than its case: its bytes were copied over P's.
  CHECK(refusal(device, "/buffers/-", buffer(3, high, 4096, "P", "input")) != "");
  CHECK(refusal(device, "/buffers/-", buffer(3, high, 64, "P", "output")) != "");
  CHECK(refusal(device, "/buffers/-", buffer(3, high, 64, "M", "output")) != "");
  // An input of another name: nobody has data for it.
  CHECK(refusal(device, "/buffers/-", buffer(3, high, 64, "X", "input")) != "");
  CHECK(refusal(device, "/buffers/-", buffer(3, high, 64, "", "input")) != "");
  // With host pointers there is no such buffer at all.
  CHECK(refusal(host, "/buffers/-", buffer(3, high, 4096, "P", "output")) != "");
  CHECK(refusal(host, "/buffers/-", buffer(3, high, 4096, "M", "input")) != "");
  // A host array beside or in place of M, N and P.
  CHECK(refusal(device, "/host/-", {{"name", "M"}, {"bytes", 4096}}) != "");
  CHECK(refusal(device, "/host/-", {{"name", "P"}, {"bytes", 64}}) != "");
  CHECK(refusal(host, "/host/-", {{"name", "P"}, {"bytes", 64}}) != "");
  CHECK(refusal(host, "/host/-", {{"name", "more"}, {"bytes", 64}}) != "");
  CHECK(refusal(host, "/host/2/bytes", 68) != "");
  CHECK(refusal(host, "/host/2/bytes", 60) != "");
  CHECK(refusal(host, "/host/-", {{"name", "staging #0"}, {"bytes", 64}}) == "");
}

TEST_CASE("Sizes that no recorder has asked for are refused before memory is") {
  const Json host = Json::parse(plan::to_text(t::host_plan(4, "module0.ptx", "add")));
  for (uint64_t bytes : {uint64_t{1} << 33, uint64_t{1} << 62, UINT64_MAX}) {
    CHECK(refusal(host, "/host/-", {{"name", "staging #0"}, {"bytes", bytes}}) != "");
    CHECK(refusal(host, "/buffers/2/bytes", bytes) != (bytes >> 40 ? "" : "never"));
  }
  Json sum = host;
  for (int i = 0; i < 5; ++i) {
    sum["host"].push_back(
        {{"name", "staging #" + std::to_string(i)}, {"bytes", uint64_t{1} << 30}});
  }
  CHECK(t::contains(message_of(sum.dump()), "host: all arrays have more than"));
  CHECK(refusal(host, "/buffers/1/address", "0x2a6b20000001") != "");  // in the one before
  CHECK(refusal(host, "/buffers/2/address", "0xffffffffffffffff") != "");
}

TEST_CASE("Copies find their buffers allocated") {
  const Json host = Json::parse(plan::to_text(t::host_plan(4, "module0.ptx", "add")));
  Json early = host;
  std::swap(early["ops"][2], early["ops"][3]);  // a copy into buffer 0: that one is there
  CHECK(message_of(early.dump()) == "");
  std::swap(early["ops"][0], early["ops"][2]);
  CHECK(t::contains(message_of(early.dump()), "is not allocated at that point"));
  CHECK(t::contains(refusal(host, "/ops/-", {{"op", "free"}, {"buffer", 0}}), "is not allocated"));
  CHECK(t::contains(refusal(host, "/ops/-", {{"op", "malloc"}, {"buffer", 0}}), "allocated twice"));
  const Json late = {{"op", "memset"}, {"buffer", 1}, {"offset", 0}, {"value", 0}, {"bytes", 4}};
  CHECK(t::contains(refusal(host, "/ops/-", late), "is not allocated at that point"));
  CHECK(refusal(host, "/leaked_buffers", Json::array({0})) != "");
  // A kernel that is given a freed buffer is the student's mistake, and is let through.
  CHECK(refusal(host, "/ops/-", host["ops"][5]) == "");
}

TEST_CASE("Rows of a copy and of a fill lie within their buffers, and are no more than bytes") {
  const Json device =
      Json::parse(plan::to_text(t::device_plan(4, "module0.ptx")));  // 64 bytes each
  const Json fill = {{"op", "memset"}, {"buffer", 2}, {"offset", 4}, {"value", 0},
                     {"bytes", 12},    {"rows", 4},   {"pitch", 16}};
  const Json copy = {{"op", "copy_d2d"}, {"buffer", 2},        {"offset", 0},
                     {"source", 0},      {"source_offset", 8}, {"bytes", 8},
                     {"rows", 4},        {"pitch", 16},        {"source_pitch", 16}};
  CHECK(refusal(device, "/ops/-", fill) == "");
  CHECK(refusal(device, "/ops/-", copy) == "");
  struct {
    const char* field;
    Json value;
  } wrong[] = {{"rows", 0},        {"rows", 5},           {"rows", uint64_t{1} << 25},
               {"rows", "4"},      {"pitch", 0},          {"pitch", 17},
               {"pitch", 65},      {"pitch", UINT64_MAX}, {"pitch", uint64_t{1} << 62},
               {"pitch", nullptr}, {"bytes", 13},         {"offset", 65}};
  for (const auto& one : wrong) {
    CAPTURE(one.field, one.value.dump());
    Json changed = fill;
    changed[one.field] = one.value;
    CHECK(t::contains(refusal(device, "/ops/-", changed), "plan x.plan.json: "));
  }
  for (const Json& pitch : {Json(0), Json(17), Json(UINT64_MAX), Json(true)}) {
    Json changed = copy;
    changed["source_pitch"] = pitch;
    CHECK(t::contains(refusal(device, "/ops/-", changed), "plan x.plan.json: "));
  }
}

TEST_CASE("Text that two readers could understand in two ways is refused") {
  const std::string good = plan::to_text(full_plan());
  auto with = [&](const std::string& old, const std::string& text) {
    std::string changed = good;
    changed.replace(changed.find(old), old.size(), text);
    return message_of(changed);
  };
  CHECK(t::contains(with("\"j\":4", "\"j\":4,\"j\":400"), "stands there twice"));
  CHECK(t::contains(with("\"op\":\"sync\"", "\"op\":\"sync\",\"op\":\"free\""), "twice"));
  CHECK(t::contains(with("\"j\":4", "\"j\":1e999"), "out of range"));
  CHECK(t::contains(with("\"j\":4", "\"j\":123456789012345678901234567890"), "j: expected"));
  CHECK(t::contains(with("cudaGraphLaunch", "a\\u0000b"), "without control characters"));
  CHECK(t::contains(with("cudaGraphLaunch", "\\u001b[2J"), "without control characters"));
  CHECK(t::contains(with("cudaGraphLaunch", "\\ud800"), "is not JSON"));
  CHECK(t::contains(with("cudaGraphLaunch", "\xff"), "is not JSON"));
  CHECK(t::contains(with("cudaGraphLaunch", std::string(1 << 17, 'x')), "a shorter string"));
  const std::string deep(100000, '[');
  CHECK(t::contains(with("\"j\":4", "\"j\":" + deep), "nested too deeply"));
  std::string many = "\"j\":4";
  for (int i = 0; i < 100; ++i) many += ",\"f" + std::to_string(i) + "\":0";
  CHECK(t::contains(with("\"j\":4", many), "an object of too many fields"));
}

TEST_CASE("A plan counts for the case that was asked for, and for no other") {
  const plan::Plan plan = t::device_plan(4, "module0.ptx");
  const plan::Case wanted = {"w4", plan::Signature::kSquareDevice, 4, 4, 4, ""};
  CHECK_NOTHROW(check_case(plan, wanted));
  plan::Case other = wanted;
  other.id = "w5";
  CHECK_THROWS_AS(check_case(plan, other), PlanError);
  other = wanted;
  other.signature = plan::Signature::kRectDevice;
  CHECK_THROWS_AS(check_case(plan, other), PlanError);
  other = wanted;
  other.l = 5;
  CHECK_THROWS_AS(check_case(plan, other), PlanError);
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
