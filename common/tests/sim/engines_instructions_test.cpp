// Instructions that are compiled, each in a kernel of its own, on numbers of all kinds: both
// engines leave the same bits.

#include <random>

#include "tests/sim/fixture.h"
#include "warpsim/jit/compiler.h"
#include "warpsim/jit/planted.h"

namespace warpsim::test {
namespace {

using jit::Planted;

constexpr uint32_t kThreads = 32 * 64;

// %r1, %r2: words; %rd1 to %rd3: words of 64 bits; %p1: one bit. The result is in %r9 and %rd9.
std::string kernel_of(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<24>;
  ld.param.u64 %rd10, [words];
  ld.param.u64 %rd11, [out];
  mov.u32 %r10, %tid.x;
  mov.u32 %r11, %ctaid.x;
  mov.u32 %r12, %ntid.x;
  mad.lo.s32 %r10, %r11, %r12, %r10;
  mul.wide.u32 %rd12, %r10, 32;
  add.s64 %rd13, %rd10, %rd12;
  ld.global.u64 %rd1, [%rd13];
  ld.global.u64 %rd2, [%rd13+8];
  ld.global.u64 %rd3, [%rd13+16];
  ld.global.u32 %r1, [%rd13+24];
  ld.global.u32 %r2, [%rd13+28];
  and.b32 %r3, %r2, 1;
  setp.eq.s32 %p1, %r3, 1;
  mov.u32 %r9, 0;
  mov.u64 %rd9, 0;
)" + body +
         R"(
  mul.wide.u32 %rd14, %r10, 16;
  add.s64 %rd15, %rd11, %rd14;
  st.global.u64 [%rd15], %rd9;
  st.global.u32 [%rd15+8], %r9;
  ret;
}
)";
}

std::vector<uint64_t> words() {
  constexpr uint64_t kSpecial[] = {
      0,
      0x8000000000000000,
      0x7FF0000000000000,
      0xFFF0000000000000,
      0x7FF8000000001234,  // NaNs
      0xFFF8000000000077,
      0x7FF0000000000001,
      0x0000000000000001,
      0x7F8000007FC12345,
      0xFF80000080000000,
      0x7FA0000100000001,
      0x3FF0000000000000,
  };
  std::mt19937_64 rng(17);
  std::vector<uint64_t> words(kThreads * 4);
  for (uint64_t& word : words)
    word = rng() % 3 == 0 ? kSpecial[rng() % std::size(kSpecial)] : rng();
  return words;
}

// What the comparison of the engines says; "" if they did the same.
std::string seen(const std::string& body, Planted fault = Planted::kNone) {
  Simulator sim(load_device("h200"));
  sim.options().engine = EngineChoice::kCompared;
  Launch launch;
  launch.module = sim.load_module(kernel_of(body), "text");
  launch.kernel = "k";
  launch.grid = {kThreads / 32, 1, 1};
  launch.block = {32, 1, 1};
  const std::vector<uint64_t> in = words();
  const uint64_t parameters[2] = {sim.memory().allocate(in.size() * 8, "words"),
                                  sim.memory().allocate(kThreads * 16, "out")};
  REQUIRE(sim.memory().write(parameters[0], in.data(), in.size() * 8));
  launch.params.resize(sizeof parameters);
  std::memcpy(launch.params.data(), parameters, sizeof parameters);
  jit::planted = fault;
  const LaunchReport report = sim.launch(launch);
  jit::planted = Planted::kNone;
  return report.status == LaunchStatus::kOk ? "" : report.message + "!";
}

TEST_CASE("Compiled arithmetic leaves the bits that interpreted arithmetic leaves") {
  for (const char* body : {
           "neg.f32 %r9, %r1;",
           "abs.f32 %r9, %r1;",
           "min.f32 %r9, %r1, %r2;",
           "max.f32 %r9, %r1, %r2;",
           "add.f32 %r3, %r1, %r2; neg.f32 %r3, %r3; min.f32 %r9, %r3, %r1;",
           "cvt.rn.f32.s32 %r9, %r1;",
           "cvt.rn.f32.u32 %r9, %r1;",
           "cvt.rn.f64.s32 %rd9, %r1;",
           "cvt.f64.f32 %rd9, %r1;",
           "add.f32 %r3, %r1, %r2; cvt.f64.f32 %rd9, %r3;",
           "cvt.rn.f32.f64 %r9, %rd1;",
           "cvt.rzi.s32.f32 %r9, %r1;",
           "add.f64 %rd9, %rd1, %rd2;",
           "sub.f64 %rd9, %rd1, %rd2;",
           "mul.f64 %rd9, %rd1, %rd2;",
           "fma.rn.f64 %rd9, %rd1, %rd2, %rd3;",
           "mov.b64 %rd9, %rd1; fma.rn.f64 %rd9, %rd2, %rd3, %rd9;",
           "mov.b64 %rd9, %rd1; fma.rn.f64 %rd9, %rd9, %rd2, %rd9;",
           "mov.b64 %rd9, %rd1; add.f64 %rd9, %rd9, %rd2; mul.f64 %rd9, %rd3, %rd9;",
           "neg.f64 %rd9, %rd1;",
           "abs.f64 %rd9, %rd1;",
           "div.rn.f64 %rd9, %rd1, %rd2;",
           "div.rn.f32 %r9, %r1, %r2;",
           "sqrt.rn.f32 %r9, %r1;",
           "add.f32 %r3, %r1, %r2; div.rn.f32 %r3, %r3, %r1; sqrt.rn.f32 %r9, %r3;",
           "setp.lt.f64 %p2, %rd1, %rd2; selp.b32 %r9, 1, 2, %p2;",
           "setp.neu.f64 %p2, %rd1, %rd2; selp.b32 %r9, 1, 2, %p2;",
           "setp.num.f64 %p2, %rd1, %rd2; selp.b32 %r9, 1, 2, %p2;",
           "shr.s64 %rd9, %rd1, 5;",
           "shr.s64 %rd9, %rd1, %r2;",
           "mul.hi.u32 %r9, %r1, %r2;",
           "rem.s32 %r9, %r1, %r2;",
           "ex2.approx.f32 %r9, %r1;",
       }) {
    CAPTURE(body);
    CHECK(seen(body) == "");
  }
}

TEST_CASE("Compiled shuffles and votes give what interpreted ones give") {
  for (const char* body : {
           "shfl.sync.bfly.b32 %r9|%p2, %r1, 5, 31, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 %rd9, "
           "%r3;",
           "shfl.sync.down.b32 %r9|%p2, %r1, 3, 31, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 %rd9, "
           "%r3;",
           "shfl.sync.up.b32 %r9|%p2, %r1, 7, 0, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 %rd9, "
           "%r3;",
           "shfl.sync.down.b32 %r9|%p2, %r1, 3, 6175, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 "
           "%rd9, %r3;",
           "shfl.sync.idx.b32 %r9|%p2, %r1, 9, 7199, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 "
           "%rd9, %r3;",
           "shfl.sync.idx.b32 %r9|%p2, %r1, %r2, 31, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 "
           "%rd9, %r3;",
           "shfl.sync.bfly.b32 %r9|%p2, %r1, %r2, 31, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 "
           "%rd9, %r3;",
           "shfl.sync.down.b32 %r9|%p2, %r1, %r2, 31, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 "
           "%rd9, %r3;",
           "shfl.sync.up.b32 %r9|%p2, %r1, %r2, 0, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 %rd9, "
           "%r3;",
           "shfl.sync.up.b32 %r9|%p2, %r1, %r2, 4096, -1; selp.b32 %r3, 1, 0, %p2; cvt.u64.u32 "
           "%rd9, %r3;",
           "mov.u32 %r9, %r1; shfl.sync.bfly.b32 %r9, %r9, 16, 31, -1; add.s32 %r9, %r9, %r1;",
           "vote.sync.ballot.b32 %r9, %p1, -1;",
           "vote.sync.ballot.b32 %r9, !%p1, -1;",
           "vote.sync.all.pred %p2, %p1, -1; selp.b32 %r9, 1, 2, %p2;",
           "vote.sync.any.pred %p2, %p1, -1; selp.b32 %r9, 1, 2, %p2;",
           "vote.sync.uni.pred %p2, %p1, -1; selp.b32 %r9, 1, 2, %p2;",
           "setp.eq.s32 %p3, 1, 1; vote.sync.uni.pred %p2, %p3, -1; selp.b32 %r9, 1, 2, %p2;",
           "setp.eq.s32 %p3, 1, 1; vote.sync.all.pred %p2, !%p3, -1; selp.b32 %r9, 1, 2, %p2;",
       }) {
    CAPTURE(body);
    CHECK(seen(body) == "");
  }
}

TEST_CASE("Wrong quotients and roots of compiled code are found by comparing the engines") {
  if (!jit::why_not().empty()) return;
  CHECK(seen("div.rn.f32 %r9, %r1, %r2;", Planted::kDivides) != "");
  CHECK(seen("sqrt.rn.f32 %r9, %r1;", Planted::kDivides) != "");
}

TEST_CASE("Another NaN of a compiled fused multiply-add is found by comparing the engines") {
  if (!jit::why_not().empty()) return;
  CHECK(seen("fma.rn.f64 %rd9, %rd1, %rd2, %rd3;", Planted::kOtherNan) != "");
}

TEST_CASE("A wrong lane of a compiled shuffle is found by comparing the engines") {
  if (!jit::why_not().empty()) return;
  if (!jit::has_wide_vectors()) {
    WARN("this processor has no vectors of 512 bits: shuffles are not compiled");
    return;
  }
  CHECK(seen("shfl.sync.bfly.b32 %r9, %r1, 5, 31, -1;", Planted::kOtherLane) != "");
}

}  // namespace
}  // namespace warpsim::test
