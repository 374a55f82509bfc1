// Plans on the simulator, with PTX written by hand.

#include "harness/execute/sim_backend.h"

#include <cstring>

#include "harness/execute/executor.h"
#include "tests/catch.h"
#include "tests/harness/fault_codes.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
namespace t = tilewise::testing;
using t::Codes, t::codes;

namespace {

constexpr uint32_t kWidth = 8;

Execution run(plan::Plan plan, const SimSettings& settings = {},
              const std::string& ptx = t::kSimPtx) {
  t::TemporaryFolder folder;
  plan.modules = {folder.put("module0.ptx", ptx)};
  ::setenv("TILEWISE_DEVICES", TILEWISE_DEVICE_FOLDER, 1);
  auto sim = make_sim_backend(settings);
  Executor executor(plan, *sim, t::sample_m(plan.j), t::sample_n(plan.j));
  executor.run();
  return executor.execution();
}

Execution run_kernel(const std::string& kernel, const SimSettings& settings = {}) {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan.ops = {t::launch(kernel, kWidth)};
  return run(plan, settings);
}

}  // namespace

TEST_CASE("sim: a right kernel leaves its result, its counters and no fault") {
  Execution e = run_kernel("add");
  CHECK(e.status == Status::kOk);
  CHECK(codes(e) == Codes{});
  for (size_t i = 0; i < 64; ++i) CHECK(e.p().values[i] == 1.5f + static_cast<float>(i));
  REQUIRE(e.kernels.size() == 1);
  const warpsim::Counters& counters = e.kernels[0].counters;
  CHECK(counters.global_load_requests == 4);  // 2 warps, 2 loads
  CHECK(counters.global_load_sectors == 16);  // 128 bytes each
  CHECK(counters.global_store_sectors == 8);
}

TEST_CASE("sim: the same plan on host pointers") {
  Execution e = run(t::host_plan(kWidth, "", "add"));
  CHECK(codes(e) == Codes{});
  CHECK(e.p().values[63] == 64.5f);
}

TEST_CASE("sim: a write past the end is named with array and offset") {
  Execution e = run_kernel("past_end");
  REQUIRE(!e.faults.empty());
  const warpsim::Diagnostic& d = e.faults[0].diagnostic;
  CHECK(d.code == warpsim::Code::kOutOfBoundsGlobal);
  CHECK(d.array == "P");
  CHECK(d.offset_bytes == 256);
  CHECK(d.thread == std::array<uint32_t, 3>{7, 7, 0});
}

TEST_CASE("sim: unwritten elements and changed inputs") {
  Execution e = run_kernel("add_but_last");
  CHECK(codes(e) == Codes{"unwritten-output"});
  CHECK(e.outputs.at("P").first_unwritten == 63);
  e = run_kernel("idle");
  CHECK(codes(e) == Codes{"unwritten-output"});
  CHECK(e.faults[0].diagnostic.amount == e.faults[0].diagnostic.limit);
  e = run_kernel("change_input");
  CHECK(e.modified_inputs.size() == 1);
  CHECK(codes(e).back() == "input-modified");
}

TEST_CASE("sim: a loop that never ends uses up its budget") {
  SimSettings settings;
  settings.instruction_budget = 10000;
  Execution e = run_kernel("endless", settings);
  CHECK(e.status == Status::kTimeout);
  REQUIRE(!e.faults.empty());
  CHECK(e.faults[0].diagnostic.code == warpsim::Code::kTimeout);
}

TEST_CASE("sim: shared memory above 48 KB must be asked for first") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan::Launch launch = t::launch("add", kWidth);
  launch.shared_bytes = 65536;
  plan.ops = {launch};
  Execution e = run(plan);
  CHECK(e.status == Status::kLaunchConfig);
  CHECK(codes(e) == Codes{"launch-config"});
  plan.ops = {plan::SetAttribute{0, "add", "max_dynamic_shared_bytes", 65536}, launch};
  e = run(plan);
  CHECK(e.status == Status::kOk);
  CHECK(codes(e) == Codes{});
  plan.ops = {plan::SetAttribute{0, "add", "max_dynamic_shared_bytes", 1 << 30}, launch};
  e = run(plan);
  CHECK(e.errors.size() == 1);
  CHECK(e.status == Status::kLaunchConfig);
}

TEST_CASE("sim: registers from ptxas give the occupancy, and too many refuse the launch") {
  SimSettings settings;
  settings.resources["add"] = {.registers = 32, .stack = {}, .cubin = {}};
  Execution e = run_kernel("add", settings);
  REQUIRE(e.kernels[0].occupancy);
  CHECK(e.kernels[0].registers == 32u);
  CHECK(e.kernels[0].occupancy->fraction == 1);
  settings.resources["add"] = {.registers = 128, .stack = {}, .cubin = {}};
  plan::Plan plan = t::device_plan(32, "");
  plan.ops = {t::launch("add", 32)};
  CHECK(codes(run(plan, settings)) == Codes{"launch-config"});
}

TEST_CASE("sim: addresses inside copied data are moved to where the buffers are") {
  plan::Plan plan = t::device_plan(kWidth, "");
  // A filler first, so that the simulator's addresses are not the recorder's.
  plan.buffers.push_back({3, 0x2a6b20300000, 1 << 16, "filler", plan::Role::kStudent, 0, ""});
  plan.buffers.push_back({4, 0x2a6b20500000, 64, "pointers", plan::Role::kStudent, 0, ""});
  std::vector<std::byte> pointer(8);
  uint64_t address = t::kAddressP;
  std::memcpy(pointer.data(), &address, 8);
  plan.ops = {plan::Malloc{3}, plan::Malloc{4},
              plan::CopyToDevice{4, 0, 8, {{"", 0, 8, pointer}}, 0},
              t::launch("indirect", kWidth, 4)};
  Execution e = run(plan);
  CHECK(e.status == Status::kOk);
  CHECK(codes(e) == Codes{});
  CHECK(e.p().values[63] == 7);
}

TEST_CASE("sim: PTX that cannot be read is `unsupported`, never a crash") {
  Execution e = run(t::device_plan(kWidth, ""), {}, "this is no PTX");
  CHECK(e.status == Status::kUnsupported);
  CHECK(!e.message.empty());
}

TEST_CASE("sim: devices and checks are chosen by name") {
  SimSettings settings;
  settings.device = "no-such-gpu";
  REQUIRE_THROWS_AS(make_sim_backend(settings), InputError);
  CHECK(parse_checks("all").races);
  CHECK_FALSE(parse_checks("none").counters);
  warpsim::Checks some = parse_checks("bounds,counters");
  CHECK((some.bounds && some.counters && !some.races));
  REQUIRE_THROWS_AS(parse_checks("bounds,bonds"), InputError);
  REQUIRE_THROWS_AS(parse_checks(""), InputError);
}

TEST_CASE("sim: memory is bounded, and what is freed can be had again") {
  plan::Plan plan = t::device_plan(kWidth, "");
  uint64_t bytes = 1 << 20;
  plan.buffers.push_back({3, 0x2a6b20300000, bytes, "first", plan::Role::kStudent, 0, ""});
  plan.buffers.push_back({4, 0x2a6b20500000, bytes, "second", plan::Role::kStudent, 0, ""});
  SimSettings settings;
  settings.memory_bytes = bytes + 3 * 4 * kWidth * kWidth;
  plan.ops = {plan::Malloc{3}, plan::Free{3}, plan::Malloc{4}, t::launch("add", kWidth)};
  CHECK(run(plan, settings).status == Status::kOk);
  plan.ops = {plan::Malloc{3}, plan::Malloc{4}, t::launch("add", kWidth)};
  Execution e = run(plan, settings);
  CHECK(e.status == Status::kFault);
  CHECK(t::contains(e.message, "second"));
}
