#include "tests/sim/fixture.h"

namespace warpsim::test {
namespace {

// Lanes 0 to 15 name each other, and so do lanes 16 to 31, in one instruction: two sums.
TEST_CASE("redux of two groups in one instruction gives each its own result") {
  Simulator sim(load_device("h200"));
  const char* text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 16;
  selp.b32 %r2, 0x0000FFFF, 0xFFFF0000, %p1;
  redux.sync.add.s32 %r3, %r1, %r2;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";
  Launch launch;
  launch.module = sim.load_module(text, "text");
  launch.kernel = "k";
  launch.block = {32, 1, 1};
  const uint64_t out = sim.memory().allocate(128, "out");
  launch.params.resize(8);
  std::memcpy(launch.params.data(), &out, 8);
  REQUIRE(sim.launch(launch).status == LaunchStatus::kOk);
  uint32_t sums[32];
  REQUIRE(sim.memory().read(out, sums, sizeof sums));
  for (int lane = 0; lane < 32; ++lane) CHECK(sums[lane] == (lane < 16 ? 120u : 376u));
}

}  // namespace
}  // namespace warpsim::test
