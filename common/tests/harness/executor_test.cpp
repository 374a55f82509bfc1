// The executor over the GPU backend with the fake driver: memory, faults, timing, all without a
// GPU.

#include "harness/execute/executor.h"

#include <bit>
#include <cstring>

#include "harness/execute/gpu_backend.h"
#include "harness/execute/gpu_timing.h"
#include "tests/catch.h"
#include "tests/harness/fault_codes.h"
#include "tests/harness/sample_plans.h"

using namespace tilewise;
namespace t = tilewise::testing;
using t::Codes, t::codes;

namespace {

constexpr uint32_t kWidth = 4;

// Runs a plan whose module is `ptx` on the fake GPU.
Execution run(plan::Plan plan, const std::string& ptx = t::kFakePtx) {
  t::TemporaryFolder folder;
  plan.modules = {folder.put("module0.ptx", ptx)};
  GpuBackend gpu(FAKE_DRIVER);
  Executor executor(plan, gpu, t::sample_m(plan.j), t::sample_n(plan.j));
  executor.run();
  return executor.execution();
}

Execution run_kernel(const std::string& kernel) {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan.ops = {t::launch(kernel, kWidth)};
  return run(plan);
}

}  // namespace

TEST_CASE("A right kernel leaves its result and no fault") {
  Execution e = run_kernel("add");
  CHECK(e.status == Status::kOk);
  CHECK(codes(e) == Codes{});
  CHECK(e.launches == 1);
  CHECK(e.outputs.at("P").unwritten == 0);
  for (size_t i = 0; i < 16; ++i) CHECK(e.p().values[i] == 1.5f + static_cast<float>(i));
  REQUIRE(e.kernels.size() == 1);
  CHECK(e.kernels[0].registers == 40u);
  CHECK(e.kernels[0].occupancy->blocks_per_sm == 128);
}

TEST_CASE("A tensor map is made anew by the GPU's driver, of the memory that the executor has") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan::Launch launch = t::launch("add_by_map", kWidth);
  launch.relocations.erase(launch.relocations.begin());  // M comes by the map
  launch.params.resize(192);
  plan::ParameterMap map{64, {.buffer = 0, .addend = 0, .map = {}}};
  map.is.map.size[0] = 15;
  map.is.map.box[0] = 8;
  map.is.map.step[0] = 1;
  map.is.map.dimensions = map.is.map.swizzle = map.is.map.fill_nan = 1;
  map.is.map.element_bytes = 4;
  map.is.map.type = 7;
  map.is.map.promotion = 3;
  launch.maps = {map};
  plan.ops = {launch};
  Execution e = run(plan);
  CHECK(e.status == Status::kOk);
  for (size_t i = 0; i < 16; ++i) CHECK(e.p().values[i] == 1.5f + static_cast<float>(i));

  launch.params.resize(64);  // where the map should begin
  launch.maps.clear();
  plan.ops = {launch};
  CHECK_THROWS_AS(run(plan), PlanError);

  launch.params.resize(192);
  map.is.map.swizzle = 2;  // the fake knows no other map
  launch.maps = {map};
  plan.ops = {launch};
  e = run(plan);
  CHECK(e.status == Status::kFault);
  REQUIRE(e.errors.size() == 1);
  CHECK(e.errors[0].api == "cuTensorMapEncodeTiled");
  CHECK(e.errors[0].code_name == "CUDA_ERROR_INVALID_VALUE");
}

TEST_CASE("An element that nobody wrote is found and stays poisoned") {
  Execution e = run_kernel("add_but_last");
  CHECK(codes(e) == Codes{"unwritten-output"});
  CHECK(e.outputs.at("P").unwritten == 1);
  CHECK(e.outputs.at("P").first_unwritten == 15);
  CHECK(std::bit_cast<uint32_t>(e.p().values[15]) == kPoison);
  CHECK(e.faults[0].diagnostic.element == std::vector<uint32_t>{3, 3});
  CHECK(e.faults[0].diagnostic.amount == 1);
  CHECK(e.faults[0].diagnostic.limit == 16);
}

TEST_CASE("A write just outside an array changes its red zone") {
  Execution e = run_kernel("past_end");
  REQUIRE(codes(e) == Codes{"out-of-bounds-global"});
  CHECK(e.faults[0].diagnostic.array == "P");
  CHECK(e.faults[0].diagnostic.offset_bytes == 64);
  CHECK(e.faults[0].diagnostic.array_bytes == 64);
  CHECK(e.faults[0].diagnostic.access == warpsim::AccessKind::kStore);
  CHECK(e.faults[0].diagnostic.cause == warpsim::Cause::kPastEnd);
  CHECK(e.faults[0].launch == 0);
  e = run_kernel("before_start");
  REQUIRE(codes(e) == Codes{"out-of-bounds-global"});
  CHECK(e.faults[0].diagnostic.offset_bytes == -8);
  CHECK(e.faults[0].diagnostic.beyond_bytes == 8);
}

TEST_CASE("A red zone is mended, so that damage is told once per launch") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan.ops = {t::launch("past_end", kWidth), t::launch("add", kWidth)};
  Execution e = run(plan);
  REQUIRE(codes(e) == Codes{"out-of-bounds-global"});
  CHECK(e.faults[0].diagnostic.count == 1);
}

TEST_CASE("An input that changed is found byte by byte") {
  Execution e = run_kernel("change_input");
  CHECK(codes(e) == Codes{"input-modified"});
  REQUIRE(e.modified_inputs.size() == 1);
  CHECK(e.modified_inputs[0].name == "M");
  CHECK(e.modified_inputs[0].first_index == 5);
  CHECK(e.modified_inputs[0].count == 1);
  CHECK(e.faults[0].diagnostic.array == "M");
  CHECK(e.faults[0].diagnostic.element == std::vector<uint32_t>{1, 1});
}

TEST_CASE("A fault ends the plan and says what the driver said") {
  struct Fault {
    const char *kernel, *code;
  };
  for (const Fault& fault :
       {Fault{"illegal", "out-of-bounds-global"}, Fault{"misaligned", "misaligned-access"},
        Fault{"assertion", "assert"}, Fault{"launch_failure", "trap"}}) {
    plan::Plan plan = t::device_plan(kWidth, "");
    plan.ops = {t::launch(fault.kernel, kWidth), t::launch("add", kWidth)};
    Execution e = run(plan);
    CHECK(e.status == Status::kFault);
    CHECK(codes(e) == Codes{fault.code});
    CHECK(e.faults[0].diagnostic.cause == warpsim::Cause::kDriver);
    CHECK(!e.faults[0].diagnostic.words.empty());
    CHECK(e.launches == 1);
    CHECK(e.outputs.at("P").unwritten == 16);
  }
  CHECK(
      t::contains(run_kernel("illegal").message, "illegal failed with CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_CASE("A refused launch is a fault of its own and the plan goes on") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan::Launch bad = t::launch("add", kWidth);
  bad.block = {33, 32, 1};
  plan.ops = {bad, plan::ApiError{"cudaLaunchKernel", 9, "cudaErrorInvalidConfiguration", ""}};
  Execution e = run(plan);
  CHECK(e.status == Status::kLaunchConfig);
  CHECK(codes(e) == Codes{"launch-config"});
  CHECK(e.faults[0].diagnostic.cause == warpsim::Cause::kBlockThreads);
  CHECK(e.faults[0].diagnostic.amount == 1056);
  CHECK(e.faults[0].diagnostic.limit == 1024);
  CHECK(e.errors.size() == 1);
  CHECK(e.outputs.at("P").unwritten == 16);
  plan.ops.push_back(t::launch("add", kWidth));
  e = run(plan);
  CHECK(e.status == Status::kLaunchConfig);
  CHECK(e.outputs.at("P").unwritten == 0);
}

TEST_CASE("A cooperative launch asks the driver for all blocks at once") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan::Launch together = t::launch("add", kWidth);
  together.is_cooperative = true;
  plan.ops = {together};
  Execution e = run(plan);
  CHECK(e.status == Status::kOk);
  CHECK(e.outputs.at("P").unwritten == 0);

  together.grid = {100000, 1, 1};  // the driver refuses more blocks than are resident
  plan.ops = {together};
  e = run(plan);
  CHECK(e.status == Status::kLaunchConfig);
  CHECK(codes(e) == Codes{"launch-config"});
}

TEST_CASE("A plan without a launch, or with results from the host, is told") {
  plan::Plan plan = t::device_plan(kWidth, "");
  CHECK(codes(run(plan)) == Codes{"no-launch"});
  plan = t::host_plan(kWidth, "", "add");
  plan.host_writes = {16, 0, ""};
  Execution e = run(plan);
  CHECK(codes(e) == Codes{"host-computed"});
  CHECK(e.faults[0].diagnostic.amount == 16);
  CHECK(e.faults[0].diagnostic.limit == 16);
}

TEST_CASE("Host pointers: copies in, out and back into an input") {
  plan::Plan plan = t::host_plan(kWidth, "", "add");
  Execution e = run(plan);
  CHECK(codes(e) == Codes{});
  CHECK(e.p().values[15] == 16.5f);

  plan.ops[7] = plan::CopyToHost{"P", 16, 2, 16, 48, 0};  // all but the first row
  e = run(plan);
  CHECK(codes(e) == Codes{"unwritten-output"});
  CHECK(e.outputs.at("P").unwritten == 4);
  CHECK(e.p().values[4] == 5.5f);

  plan.ops[7] = plan::CopyToHost{"M", 0, 2, 0, 64, 0};  // the wrong way round
  e = run(plan);
  CHECK(codes(e) == Codes{"input-modified", "unwritten-output"});
}

TEST_CASE("Memory a kernel reads before anybody wrote it holds NaNs") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan.ops = {t::launch("accumulate", kWidth)};
  Execution e = run(plan);
  for (float value : e.p().values) CHECK(value != value);
  plan.ops = {plan::Memset{2, 0, 0, 64, 0}, t::launch("accumulate", kWidth)};
  CHECK(run(plan).p().values[3] == 4.0f);
}

TEST_CASE("Copies on the device, literals and variables land where the plan says") {
  plan::Plan plan = t::device_plan(kWidth, "");
  std::vector<std::byte> two(4);
  float value = 2;
  std::memcpy(two.data(), &value, 4);
  plan.buffers.push_back({3, 0x2a6b20300000, 64, "table", plan::Role::kSymbol, 0, "table"});
  plan.ops = {plan::Memset{2, 0, 0, 64, 0},
              plan::CopyToDevice{2, 8, 8, {{"", 0, 4, two}, {"", 0, 4, two}}, 0},
              plan::CopyOnDevice{2, 32, 0, 0, 8, 0},
              plan::SymbolWrite{0, "table", 4, {{"", 0, 4, two}}},
              plan::CopyOnDevice{2, 48, 3, 4, 4, 0}};
  Execution e = run(plan);
  CHECK(e.p().values[2] == 2);
  CHECK(e.p().values[3] == 2);
  CHECK(e.p().values[8] == 1);
  CHECK(e.p().values[9] == 2);
  CHECK(e.p().values[12] == 2);
}

TEST_CASE("Rows of copies and of fills are what they are one by one") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan.ops = {
      plan::Memset{2, 0, 0, 64, 0}, plan::CopyOnDevice{2, 4, 0, 0, 8, 0, 0, 3, 16, 12},
      plan::Memset{2, 12, 0x40, 4, 0, 0, 3, 20},
      plan::CopyOnDevice{2, 40, 2, 4, 4, 0, 0, 2, 8, 4}};  // the second takes what the first left
  plan::Plan single = plan;
  single.ops = {plan.ops[0]};
  for (uint64_t row = 0; row < 3; ++row)
    single.ops.push_back(plan::CopyOnDevice{2, 4 + 16 * row, 0, 12 * row, 8, 0});
  for (uint64_t row = 0; row < 3; ++row)
    single.ops.push_back(plan::Memset{2, 12 + 20 * row, 0x40, 4, 0});
  for (uint64_t row = 0; row < 2; ++row)
    single.ops.push_back(plan::CopyOnDevice{2, 40 + 8 * row, 2, 4 + 4 * row, 4, 0});
  const Execution rows = run(plan), each = run(single);
  CHECK(rows.p().values == each.p().values);
  CHECK(rows.p().values[5] != 0);
  CHECK(rows.p().values[13] != 0);
}

TEST_CASE("A freed buffer's memory is gone, unless it is kept for timing") {
  plan::Plan plan = t::host_plan(kWidth, "", "add");
  t::TemporaryFolder folder;
  plan.modules = {folder.put("module0.ptx", t::kFakePtx)};
  GpuBackend gpu(FAKE_DRIVER);
  Executor executor(plan, gpu, t::sample_m(kWidth), t::sample_n(kWidth));
  executor.keep_buffers();
  executor.run();
  REQUIRE(executor.execution().status == Status::kOk);
  time_plan(gpu, executor, 7);
  const Execution& e = executor.execution();
  REQUIRE(e.time_ms);
  CHECK(e.time_ms->median == 1);  // the fake's launches take a millisecond
  CHECK(e.time_ms->repeats == 7);
  CHECK(e.kernels[0].time_ms->high == 1);
}

TEST_CASE("Launches of one configuration are one entry, faults at one place one fault") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan::Launch other = t::launch("add", kWidth);
  other.block = {16, 1, 1};
  plan.ops = {t::launch("past_end", kWidth), t::launch("past_end", kWidth),
              t::launch("add", kWidth), other};
  Execution e = run(plan);
  REQUIRE(e.kernels.size() == 3);
  CHECK(e.kernels[0].launches == 2);
  CHECK(e.launches == 4);
  REQUIRE(e.faults.size() == 1);
  CHECK(e.faults[0].diagnostic.count == 2);
}

TEST_CASE("What kernels print is kept up to a limit") {
  Execution e = run_kernel("print");
  CHECK(t::contains(e.printed, "line 0\nline 1\n"));
  CHECK(t::contains(e.printed, "more bytes printed]"));
  CHECK(e.printed.size() < kPrintLimit + 100);
}

TEST_CASE("What cannot be carried out is said, not guessed") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan.ops = {plan::Unsupported{"cudaGraphLaunch", ""}, t::launch("add", kWidth)};
  Execution e = run(plan);
  CHECK(e.status == Status::kUnsupported);
  CHECK(t::contains(e.message, "cudaGraphLaunch"));
  CHECK(e.launches == 0);
  CHECK(codes(e) == Codes{});

  plan.ops = {plan::Unsupported{"cudaMemcpy", "Too much was moved."}, t::launch("add", kWidth)};
  e = run(plan);
  CHECK(e.status == Status::kUnsupported);
  CHECK(e.message == "Too much was moved.");
  CHECK(e.launches == 0);

  e = run(t::device_plan(kWidth, ""), "refuse me");
  CHECK(e.status == Status::kError);
  CHECK(t::contains(e.message, "ptxas fatal: planted"));

  plan.buffers.push_back(
      {3, 0x2a6b20300000, uint64_t{1} << 40, "too much", plan::Role::kStudent, 0, ""});
  plan.ops = {plan::Malloc{3}};
  e = run(plan);
  CHECK(e.status == Status::kFault);
  CHECK(t::contains(e.message, "Not enough device memory for too much"));
  REQUIRE(e.errors.size() == 1);
  CHECK(e.errors[0].code_name == "cudaErrorMemoryAllocation");
}

TEST_CASE("A plan that names what its modules lack is no recorder's") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan.ops = {t::launch("no_such_kernel", kWidth)};
  REQUIRE_THROWS_AS(run(plan), PlanError);
  plan.ops = {plan::SymbolWrite{0, "no_such_table", 0, {}}};
  REQUIRE_THROWS_AS(run(plan), PlanError);
  GpuBackend gpu(FAKE_DRIVER);
  REQUIRE_THROWS_AS(Executor(plan, gpu, t::sample_m(3), t::sample_n(4)), InputError);
}

TEST_CASE("The result is JSON with the fields of its schema") {
  plan::Plan plan = t::device_plan(kWidth, "");
  plan.leaked_buffers = {2};
  plan.ops = {t::launch("past_end", kWidth)};
  Execution e = run(plan);
  e.printed = "\xff";  // no UTF-8
  Json json = Json::parse(
      to_text(e, plan, "gpu", "h200", warpsim::CountingRule::kSectors, {{"name", "Fake GPU"}}));
  CHECK(json["schema"] == "tilewise.execution/1");
  CHECK(json["status"] == "ok");
  CHECK(json["diagnostics"][0]["code"] == "out-of-bounds-global");
  CHECK(json["diagnostics"][0]["offset_bytes"] == 64);
  CHECK(json["kernels"][0]["block"] == Json{4, 4, 1});
  CHECK(json["kernels"][0]["counters"].is_null());  // a GPU counts nothing
  CHECK(json["outputs"]["P"]["first_unwritten"] == -1);
  CHECK(json["leaked_buffers"][0]["name"] == "P");
  CHECK(json["gpu"]["name"] == "Fake GPU");
}

TEST_CASE("A machine without a GPU gets one sentence") {
  REQUIRE_THROWS_WITH(
      GpuBackend("libno-such-driver.so"),
      "no GPU: the driver library libno-such-driver.so cannot be loaded; use --backend sim.");
  ::setenv("FAKE_GPUS", "0", 1);
  REQUIRE_THROWS_WITH(GpuBackend(FAKE_DRIVER), "no GPU: the driver sees none; use --backend sim.");
  ::unsetenv("FAKE_GPUS");
}
