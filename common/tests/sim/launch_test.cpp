#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

void check_refused(const LaunchReport& r, int error, const std::string& words) {
  CAPTURE(r.message);
  CHECK(r.status == LaunchStatus::kBadLaunch);
  CHECK(r.cuda_error == error);
  CHECK(r.message.find(words) != std::string::npos);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].code == Code::kLaunchConfig);
  CHECK(r.diagnostics[0].message == r.message);
}

TEST_CASE("Launches beyond the device's limits are refused") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 8192);
  check_refused(f.launch("nested", {}, {32, 33}, out), 9, "1056 threads: at most 1024");
  check_refused(f.launch("nested", {}, {1025}, out), 9, "1025 threads: at most 1024");
  check_refused(f.launch("nested", {}, {1, 1, 65}, out), 9, "65 threads in z: at most 64");
  check_refused(f.launch("nested", {}, {0}, out), 9, "The block has 0 in x");
  check_refused(f.launch("nested", {0}, {32}, out), 9, "The grid has 0 in x");
  check_refused(f.launch("nested", {1, 65536}, {32}, out), 9, "65536 blocks in y: at most 65535");
  CHECK(is_clean(f.launch("nested", {}, {32, 1, 1}, out)));
}

TEST_CASE("Launch bounds are kept") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 1024);
  CHECK(is_clean(f.launch("launch_bounded", {}, {64}, out)));
  check_refused(f.launch("launch_bounded", {}, {96}, out), 701, "__launch_bounds__");
}

TEST_CASE("Shared memory beyond the default needs the attribute") {
  Fixture f("control");
  const uint64_t out = f.empty("out", 128);
  f.next.dynamic_shared_bytes = 9000;
  CHECK(is_clean(f.launch("big_shared", {}, {32}, out)));
  f.next.dynamic_shared_bytes = 20000;
  check_refused(f.launch("big_shared", {}, {32}, out), 1, "must first ask for more");
  f.next.max_dynamic_shared_bytes = 20000;
  CHECK(is_clean(f.launch("big_shared", {}, {32}, out)));
  f.next.dynamic_shared_bytes = 60000;
  check_refused(f.launch("big_shared", {}, {32}, out), 1, "cudaFuncSetAttribute granted 20000");
  f.next.max_dynamic_shared_bytes = f.next.dynamic_shared_bytes = 220000;
  check_refused(f.launch("big_shared", {}, {32}, out), 1, "has at most 232448 a block");
}

TEST_CASE("Unknown kernel is refused") {
  Fixture f("control");
  check_refused(f.launch("nothing_of_that_name", {}, {32}), 98, "nothing_of_that_name");
}

TEST_CASE("An unmodelled instruction is named with its line") {
  Simulator sim(load_device("h200"));
  const char* text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
  .reg .b32 %r<3>;
  mov.u32 %r1, 1;
  vadd.s32.s32.s32 %r2, %r1, %r1;
  ret;
}
)";
  const int module = sim.load_module(text, "text");
  const LaunchReport r =
      sim.launch({.module = module, .kernel = "k", .grid = {}, .block = {32}, .params = {}});
  CHECK(r.status == LaunchStatus::kUnsupported);
  CHECK(r.message.find("vadd.s32.s32.s32") != std::string::npos);
}

}  // namespace
}  // namespace warpsim::test
