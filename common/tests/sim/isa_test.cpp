// Single instructions on values worked out by hand, from the descriptions in the PTX ISA.

#include <cstring>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "warpsim/sim.h"

namespace warpsim::test {
namespace {

// Runs `body`, which computes %d from %a, %b and %c (or the 16-bit %hd from %ha, %hb, %hc, their
// low halves), and may use the predicates %p, %q. Both engines do.
struct Result {
  LaunchReport report;
  uint32_t value = 0xDEADBEEF;
};
Result launch(const std::string& body, uint32_t a, uint32_t b, uint32_t c) {
  const bool halves = body.find("%hd") != std::string::npos;
  Simulator sim(load_device("h200"));
  sim.options().engine = EngineChoice::kCompared;
  const std::string ptx =
      ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 m) {\n"
      ".reg .b16 %ha, %hb, %hc, %hd, %he;\n.reg .b32 %a, %b, %c, %d, %e;\n.reg .f64 %f;\n"
      ".reg .b64 %at, %l;\n.reg .pred %p, %q;\nld.param.u64 %at, [m];\nld.global.u32 %a, [%at];\n"
      "ld.global.u32 %b, [%at+4];\nld.global.u32 %c, [%at+8];\nmov.b32 {%ha, %he}, %a;\n"
      "mov.b32 {%hb, %he}, %b;\nmov.b32 {%hc, %he}, %c;\n" +
      body + "\n" + (halves ? "cvt.u32.u16 %d, %hd;\n" : "") +
      "st.global.u32 [%at+12], %d;\nret;\n}\n";
  const int module = sim.load_module(ptx, "one.ptx");
  const uint64_t address = sim.memory().allocate(16, "words");
  const uint32_t words[4] = {a, b, c, 0};
  sim.memory().write(address, words, 16);
  std::vector<std::byte> params(8);
  std::memcpy(params.data(), &address, 8);
  Result r;
  r.report =
      sim.launch({.module = module, .kernel = "k", .grid = {1}, .block = {1}, .params = params});
  sim.memory().read(address + 12, &r.value, 4);
  return r;
}
uint32_t run(const std::string& body, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  const Result r = launch(body, a, b, c);
  INFO(body << " " << r.report.message);
  CHECK(r.report.status == LaunchStatus::kOk);
  return r.value;
}
const std::string kYes = " selp.u32 %d, 1, 0, %p;",
                  kBoth = " selp.u32 %d, 1, 0, %p; selp.u32 %e, 2, 0, %q; or.b32 %d, %d, %e;";

// f16: 1 = 3C00, 2 = 4000, 3 = 4200, 0.5 = 3800, -1 = BC00, largest = 7BFF, infinity = 7C00,
// smallest subnormal = 0001, NaN = 7FFF. bf16: 1 = 3F80, 2 = 4000, -1 = BF80, NaN = 7FFF.

TEST_CASE("Half precision: arithmetic that saturates, clamps and flushes") {
  CHECK(run("add.sat.f16 %hd, %ha, %hb;", 0x3C00, 0x3C00) == 0x3C00);  // 2 -> 1
  CHECK(run("add.sat.f16 %hd, %ha, %hb;", 0xBC00, 0x0000) == 0x0000);  // -1 -> 0
  CHECK(run("mul.sat.f16 %hd, %ha, %hb;", 0x7FFF, 0x3C00) == 0x0000);  // NaN -> 0
  CHECK(run("sub.sat.f16x2 %d, %a, %b;", 0x40003800, 0x38003C00) == 0x3C000000);
  CHECK(run("fma.rn.relu.f16 %hd, %ha, %hb, %hc;", 0xBC00, 0x4000, 0x3C00) == 0);  // -1 -> 0
  CHECK(run("fma.rn.relu.f16x2 %d, %a, %b, %c;", 0x3C007FFF, 0x40003C00, 0x3C003C00) == 0x42007FFF);
  CHECK(run("fma.rn.sat.f16 %hd, %ha, %hb, %hc;", 0x3800, 0x3800, 0x3800) == 0x3A00);  // 0.75
  CHECK(run("fma.rn.relu.bf16 %hd, %ha, %hb, %hc;", 0xBF80, 0x4000, 0x3F80) == 0);
  CHECK(run("fma.rn.bf16 %hd, %ha, %hb, %hc;", 0xBF80, 0x4000, 0x3F80) == 0xBF80);
  CHECK(run("add.ftz.f16 %hd, %ha, %hb;", 0x0001, 0x0400) == 0x0400);  // 2^-24 counts as 0
  CHECK(run("add.f16 %hd, %ha, %hb;", 0x0001, 0x0400) == 0x0401);
  CHECK(run("mul.ftz.f16 %hd, %ha, %hb;", 0x8400, 0x3800) == 0x8000);  // -2^-15 is flushed
  CHECK(run("neg.f16x2 %d, %a;", 0x3C00BC00) == 0xBC003C00);
  CHECK(run("abs.ftz.f16 %hd, %ha;", 0x8001) == 0);
  CHECK(run("neg.bf16x2 %d, %a;", 0x3F80BF80) == 0xBF803F80);
}

TEST_CASE("Half precision: min and max") {
  CHECK(run("max.f16 %hd, %ha, %hb;", 0x7FFF, 0xBC00) == 0xBC00);      // the number
  CHECK(run("max.NaN.f16 %hd, %ha, %hb;", 0x7FFF, 0xBC00) == 0x7FFF);  // the NaN
  CHECK(run("min.f16 %hd, %ha, %hb;", 0x0000, 0x8000) == 0x8000);      // -0 is less
  CHECK(run("max.f16 %hd, %ha, %hb;", 0x8000, 0x0000) == 0x0000);
  CHECK(run("min.f16x2 %d, %a, %b;", 0x3C00BC00, 0x4000C000) == 0x3C00C000);
  CHECK(run("max.NaN.bf16x2 %d, %a, %b;", 0x7FFF3F80, 0x3F804000) == 0x7FFF4000);
  CHECK(run("max.xorsign.abs.bf16 %hd, %ha, %hb;", 0xC000, 0x3F80) == 0xC000);  // |-2|, minus
  CHECK(run("min.xorsign.abs.f16 %hd, %ha, %hb;", 0xC000, 0xBC00) == 0x3C00);   // |-1|, plus
  CHECK(run("min.xorsign.abs.f32 %d, %a, %b;", 0xC0000000, 0x3F800000) == 0xBF800000);
}

// Rows of docs/measurements/double-nans.md. Each operand's upper word is %a, %b or %c, its lower 0.
TEST_CASE("Double precision: which NaN an operation passes on") {
  constexpr uint32_t kOne = 0x3FF00000, kInfinity = 0x7FF00000;
  constexpr uint32_t kA = 0x7FF80001, kB = 0xFFF80002, kC = 0x7FF80003;  // NaNs
  const std::string before =
      ".reg .f64 %x, %y, %z; .reg .b32 %low; mov.b32 %low, 0; mov.b64 %x, {%low, %a}; "
      "mov.b64 %y, {%low, %b}; mov.b64 %z, {%low, %c}; ";
  const std::string after = " mov.b64 {%low, %d}, %x;";
  auto upper = [&](const std::string& name, uint32_t a, uint32_t b, uint32_t c = 0x3FF00000) {
    return run(before + name + after, a, b, c);
  };
  for (const char* name : {"add.rn.f64 %x, %x, %y;", "sub.rn.f64 %x, %x, %y;",
                           "mul.rn.f64 %x, %x, %y;", "min.f64 %x, %x, %y;"}) {
    CAPTURE(name);
    CHECK(upper(name, kA, kB) == kB);
    CHECK(upper(name, kA, 0xFFF40002) == 0xFFFC0002);  // made quiet
  }
  CHECK(upper("sub.rn.f64 %x, %x, %y;", kA, kOne) == kA);
  CHECK(upper("div.rn.f64 %x, %x, %y;", kA, kB) == kA);
  CHECK(upper("div.rn.f64 %x, %x, %y;", kOne, kB) == kB);
  const std::string fma = "fma.rn.f64 %x, %x, %y, %z;";
  CHECK(upper(fma, kA, kB, kC) == kB);
  CHECK(upper(fma, kA, kOne, kC) == kC);
  CHECK(upper(fma, kA, kB, kOne) == kB);
  CHECK(upper(fma, kA, kOne, kOne) == kA);
  // Where there was none before.
  CHECK(upper(fma, kInfinity, 0, kOne) == 0xFFF80000);
  CHECK(upper("sub.rn.f64 %x, %x, %y;", kInfinity, kInfinity) == 0xFFF80000);
}

TEST_CASE("Half precision: every comparison of what is less, equal, greater or a NaN") {
  const struct {
    const char* name;
    std::array<uint32_t, 4> holds;  // for these four
  } comparisons[] = {{"eq", {0, 1, 0, 0}},  {"ne", {1, 0, 1, 0}},  {"lt", {1, 0, 0, 0}},
                     {"le", {1, 1, 0, 0}},  {"gt", {0, 0, 1, 0}},  {"ge", {0, 1, 1, 0}},
                     {"equ", {0, 1, 0, 1}}, {"neu", {1, 0, 1, 1}}, {"ltu", {1, 0, 0, 1}},
                     {"leu", {1, 1, 0, 1}}, {"gtu", {0, 0, 1, 1}}, {"geu", {0, 1, 1, 1}},
                     {"num", {1, 1, 1, 0}}, {"nan", {0, 0, 0, 1}}};
  const uint32_t left[] = {0x3C00, 0x4000, 0x4200, 0x7FFF};
  for (const auto& c : comparisons) {
    const std::string name = c.name;
    const std::string both = "setp." + name + ".f16 %p, %ha, %hb; set." + name +
                             ".u32.f16 %c, %ha, %hb;" + kYes +
                             " and.b32 %c, %c, 2; or.b32 %d, %d, %c;";
    for (size_t i = 0; i < 4; ++i) {
      CAPTURE(name, i);
      CHECK(run(both, left[i], 0x4000) == 3 * c.holds[i]);
    }
  }
}

TEST_CASE("Half precision: comparisons, of pairs with two results") {
  CHECK(run("setp.lt.f16 %p, %ha, %hb;" + kYes, 0x3C00, 0x4000) == 1);
  CHECK(run("setp.lt.f16 %p, %ha, %hb;" + kYes, 0x7FFF, 0x4000) == 0);
  CHECK(run("setp.ltu.f16 %p, %ha, %hb;" + kYes, 0x7FFF, 0x4000) == 1);
  CHECK(run("setp.eq.ftz.f16 %p, %ha, %hb;" + kYes, 0x0001, 0x8000) == 1);
  CHECK(run("setp.eq.f16 %p, %ha, %hb;" + kYes, 0x0001, 0x8000) == 0);
  CHECK(run("setp.gt.bf16 %p, %ha, %hb;" + kYes, 0x4000, 0x3F80) == 1);
  // p: the low halves, q: the high ones
  CHECK(run("setp.gt.f16x2 %p|%q, %a, %b;" + kBoth, 0x40003C00, 0x3C004000) == 2);
  CHECK(run("setp.le.bf16x2 %p|%q, %a, %b;" + kBoth, 0x40003F80, 0x3F804000) == 1);
  CHECK(run("setp.eq.and.f16x2 %p|%q, %a, %a, !%p;" + kBoth, 0) != 0xDEADBEEF);
  CHECK(run("set.eq.f16.f16 %hd, %ha, %hb;", 0x3C00, 0x3C00) == 0x3C00);
  CHECK(run("set.ne.f16.f16 %hd, %ha, %hb;", 0x3C00, 0x3C00) == 0);
  CHECK(run("set.lt.f16x2.f16x2 %d, %a, %b;", 0x3C004000, 0x40003C00) == 0x3C000000);
  CHECK(run("set.lt.u32.f16x2 %d, %a, %b;", 0x3C003C00, 0x40004000) == 0xFFFFFFFF);
  CHECK(run("set.lt.u32.f16x2 %d, %a, %b;", 0x3C004000, 0x40003C00) == 0xFFFF0000);
  CHECK(run("set.geu.bf16x2.bf16x2 %d, %a, %b;", 0x7FFF3F80, 0x40004000) == 0x3F800000);
  CHECK(run("set.lt.u16.f16 %hd, %ha, %hb;", 0x3C00, 0x4000) == 0xFFFF);
  CHECK(run("set.lt.u32.bf16 %d, %ha, %hb;", 0x3F80, 0x4000) == 0xFFFFFFFF);
}

TEST_CASE("Half precision: conversions round as they say") {
  // 1 + 2^-11 lies between 1 and the next half, 3C01.
  CHECK(run("cvt.rn.f16.f32 %hd, %a;", 0x3F801000) == 0x3C00);
  CHECK(run("cvt.rp.f16.f32 %hd, %a;", 0x3F801000) == 0x3C01);
  CHECK(run("cvt.rm.f16.f32 %hd, %a;", 0xBF801000) == 0xBC01);
  CHECK(run("cvt.rz.f16.f32 %hd, %a;", 0xBF801000) == 0xBC00);
  CHECK(run("cvt.rz.f16.f32 %hd, %a;", 0x7F7FFFFF) == 0x7BFF);  // not to infinity
  CHECK(run("cvt.rp.f16.f32 %hd, %a;", 0x7F7FFFFF) == 0x7C00);
  CHECK(run("cvt.rp.f16.f32 %hd, %a;", 0x00000001) == 0x0001);
  CHECK(run("cvt.rp.ftz.f16.f32 %hd, %a;", 0x00000001) == 0);
  CHECK(run("cvt.rn.f16.s32 %hd, %a;", uint32_t(-2049)) == 0xE800);  // a tie, to even: -2048
  CHECK(run("cvt.rm.f16.s32 %hd, %a;", uint32_t(-2049)) == 0xE801);  // -2050
  CHECK(run("cvt.rn.f16.u32 %hd, %a;", 65520) == 0x7C00);
  CHECK(run("cvt.rz.f16.u32 %hd, %a;", 65535) == 0x7BFF);
  CHECK(run("cvt.rn.bf16.s32 %hd, %a;", 257) == 0x4380);  // a tie between 256 and 258
  CHECK(run("mov.b64 %l, {%a, %b}; cvt.rn.bf16.u64 %hd, %l;", 1, 0x80800000) == 0x5F01);  // sticky
  CHECK(run("mov.b64 %l, {%a, %b}; cvt.rn.bf16.u64 %hd, %l;", 0, 0x80800000) == 0x5F00);  // tie
  CHECK(run("mov.b64 %f, {%a, %b}; cvt.rn.bf16.f64 %hd, %f;", 1, 0x3FF01000) == 0x3F81);
  CHECK(run("mov.b64 %f, {%a, %b}; cvt.rn.bf16.f64 %hd, %f;", 0, 0x3FF01000) == 0x3F80);
  CHECK(run("cvt.rz.bf16.f32 %hd, %a;", 0x3F80FFFF) == 0x3F80);
  CHECK(run("cvt.rn.relu.bf16.f32 %hd, %a;", 0xBF800000) == 0);
  CHECK(run("cvt.rz.bf16x2.f32 %d, %a, %b;", 0x3F80FFFF, 0xC0000000) == 0x3F80C000);
  CHECK(run("cvt.rn.relu.f16x2.f32 %d, %a, %b;", 0x3F800000, 0xC0000000) == 0x3C000000);
  CHECK(run("cvt.rn.bf16.f16 %hd, %ha;", 0x3C00) == 0x3F80);
  CHECK(run("cvt.rni.f16.f16 %hd, %ha;", 0x4100) == 0x4000);  // 2.5 -> 2
  CHECK(run("cvt.rpi.f16.f16 %hd, %ha;", 0xB800) == 0x8000);  // -0.5 -> -0
  CHECK(run("cvt.rmi.bf16.bf16 %hd, %ha;", 0xBF00) == 0xBF80);
  CHECK(run("cvt.sat.f16.f16 %hd, %ha;", 0x4000) == 0x3C00);
  CHECK(run("cvt.rzi.s32.bf16 %d, %ha;", 0xC020) == uint32_t(-2));  // -2.5
  CHECK(run("cvt.rni.u32.f16 %d, %ha;", 0xBC00) == 0);
  CHECK(run("cvt.f64.bf16 %f, %ha; mov.b64 {%e, %d}, %f;", 0x4000) == 0x40000000);
  CHECK(run("cvt.rn.tf32.f32 %d, %a;", 0x3F801000) == 0x3F800000);
  CHECK(run("cvt.rz.relu.tf32.f32 %d, %a;", 0x3F801FFF) == 0x3F800000);
  CHECK(run("ex2.approx.f16 %hd, %ha;", 0x4200) == 0x4800);  // 8
  CHECK(run("tanh.approx.bf16x2 %d, %a;", 0x00007F80) == 0x00003F80);
}

TEST_CASE("Integer instructions: masks, fields, pairs and bytes") {
  CHECK(run("bmsk.clamp.b32 %d, %a, %b;", 4, 8) == 0xFF0);
  CHECK(run("bmsk.clamp.b32 %d, %a, %b;", 4, 40) == 0xFFFFFFF0);
  CHECK(run("bmsk.wrap.b32 %d, %a, %b;", 4, 40) == 0xFF0);
  CHECK(run("bmsk.clamp.b32 %d, %a, %b;", 33, 1) == 0);
  CHECK(run("bmsk.wrap.b32 %d, %a, %b;", 33, 1) == 2);
  CHECK(run("bmsk.clamp.b32 %d, %a, %b;", 5, 0) == 0);
  CHECK(run("szext.clamp.s32 %d, %a, %b;", 0xABC, 12) == 0xFFFFFABC);
  CHECK(run("szext.clamp.u32 %d, %a, %b;", 0xFABC, 12) == 0xABC);
  CHECK(run("szext.clamp.s32 %d, %a, %b;", 0x80000ABC, 32) == 0x80000ABC);
  CHECK(run("szext.wrap.s32 %d, %a, %b;", 3, 33) == 0xFFFFFFFF);  // one bit
  CHECK(run("szext.wrap.s32 %d, %a, %b;", 0xFF, 0) == 0);
  CHECK(run("fns.b32 %d, %a, %b, %c;", 0xAAAAAAAA, 3, 1) == 3);
  CHECK(run("fns.b32 %d, %a, %b, %c;", 0xAAAAAAAA, 3, uint32_t(-1)) == 3);
  CHECK(run("fns.b32 %d, %a, %b, %c;", 0xAAAAAAAA, 3, uint32_t(-2)) == 1);
  CHECK(run("fns.b32 %d, %a, %b, %c;", 0xAAAAAAAA, 3, 2) == 5);
  CHECK(run("fns.b32 %d, %a, %b, %c;", 0xAAAAAAAA, 2, 0) == 0xFFFFFFFF);
  CHECK(run("add.u16x2 %d, %a, %b;", 0xFFFF0001, 0x00010002) == 0x00000003);
  CHECK(run("max.s16x2 %d, %a, %b;", 0xFFFF0001, 0x0001FFFF) == 0x00010001);
  CHECK(run("min.u16x2 %d, %a, %b;", 0xFFFF0001, 0x0001FFFF) == 0x00010001);
  CHECK(run("max.s16x2.relu %d, %a, %b;", 0xFFFF0001, 0xFFFE0002) == 0x00000002);
  CHECK(run("min.relu.s32 %d, %a, %b;", uint32_t(-5), 7) == 0);
  CHECK(run("vabsdiff4.u32.u32.u32 %d, %a, %b, %c;", 0x01020304, 0x04030201, 9) == 0x03010103);
  CHECK(run("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", 0x01020304, 0x04030201, 9) == 17);
  CHECK(run("mad.hi.sat.s32 %d, %a, %b, %c;", 0x40000000, 4, 0x7FFFFFFF) == 0x7FFFFFFF);
  CHECK(run("mad24.hi.sat.s32 %d, %a, %b, %c;", 0x7FFFFF, 0x7FFFFF, 0x7FFFFFFF) == 0x7FFFFFFF);
  CHECK(
      run("setp.eq.u32 %q, %a, 0; lop3.or.b32 %d|%p, %a, %b, %c, 0xC0, %q; selp.u32 %d, 1, 0, %p;",
          0xF0, 0x0F, 0) == 0);
  CHECK(
      run("setp.eq.u32 %q, %a, 0; lop3.or.b32 %d|%p, %a, %b, %c, 0xC0, %q; selp.u32 %d, 1, 0, %p;",
          0xF0, 0x1F, 0) == 1);
  CHECK(run("elect.sync %d|%p, 1; selp.u32 %d, 5, 6, %p;", 0) == 5);
  CHECK(run("griddepcontrol.wait; griddepcontrol.launch_dependents; mov.u32 %d, %a;", 7) == 7);
}

TEST_CASE("Conversions that end at the largest number") {
  const std::string to_half = "cvt.rn.satfinite.f16.f32 %hd, %a;";
  CHECK(run(to_half, 0x7F800000) == 0x7BFF);
  CHECK(run(to_half, 0xFF800000) == 0xFBFF);
  CHECK(run(to_half, 0x477FF000) == 0x7BFF);  // 65520, which to the nearest is infinity
  CHECK(run(to_half, 0x7FC00000) == 0x7FFF);
  CHECK(run("cvt.rn.f16.f32 %hd, %a;", 0x477FF000) == 0x7C00);
  CHECK(run("cvt.rn.relu.satfinite.bf16x2.f32 %d, %a, %b;", 0x7F800000, 0xFF800000) == 0x7F7F0000);
  CHECK(run("cvt.rn.satfinite.tf32.f32 %d, %a;", 0x7F7FFFFF) == 0x7F7FE000);
  CHECK(run("cvt.rna.satfinite.tf32.f32 %d, %a;", 0xFF800000) == 0xFF7FE000);
  CHECK(run("cvt.rn.tf32.f32 %d, %a;", 0x7F7FFFFF) == 0x7F800000);
}

// e4m3: 1 = 38, 2 = 40, largest 448 = 7E, smallest 2^-9 = 01, NaN = 7F. e5m2: 1 = 3C, 2 = 40,
// largest 57344 = 7B, infinity = 7C, smallest 2^-16 = 01, NaN = 7F.
TEST_CASE("Numbers of eight bits: the first source and the upper half are the upper byte") {
  const std::string small = "cvt.rn.satfinite.e4m3x2.f32 %hd, %a, %b;",
                    wide = "cvt.rn.satfinite.e5m2x2.f32 %hd, %a, %b;";
  CHECK(run(small, 0x3F800000, 0xC0000000) == 0x38C0);  // 1, -2
  CHECK(run(wide, 0x3F800000, 0xC0000000) == 0x3CC0);
  CHECK(run(small, 0x43E00000, 0x43E80000) == 0x7E7E);  // 448; 464, half way to what is not there
  CHECK(run(small, 0x7F800000, 0xFF7FFFFF) == 0x7EFE);
  CHECK(run(wide, 0x47600000, 0xFF800000) == 0x7BFB);   // 57344, -infinity
  CHECK(run(small, 0x7FC00000, 0xFFC00000) == 0x7F7F);  // of either sign
  CHECK(run(small, 0x3F880000, 0x3F980000) == 0x383A);  // 1.0625 and 1.1875: ties, to even
  CHECK(run(small, 0x3F880001, 0x3F97FFFF) == 0x3939);
  CHECK(run(small, 0x3B000000, 0x3A800000) == 0x0100);  // 2^-9; half of it, a tie
  CHECK(run(small, 0x3A800001, 0xBA800000) == 0x0180);  // -0 keeps its sign
  CHECK(run(small, 0x3C780000, 0x3C7C0000) == 0x0808);  // rounded up from subnormal to normal
  CHECK(run(wide, 0x37800000, 0x00000001) == 0x0100);   // 2^-16, a subnormal float
  CHECK(run("cvt.rn.satfinite.relu.e4m3x2.f32 %hd, %a, %b;", 0xBF800000, 0x3F800000) == 0x0038);
  CHECK(run("cvt.rn.satfinite.relu.e5m2x2.f32 %hd, %a, %b;", 0xFFC00000, 0x80000000) == 0x7F00);
  CHECK(run("cvt.rn.satfinite.e4m3x2.f16x2 %hd, %a;", 0x3C00C000) == 0x38C0);
  CHECK(run("cvt.rn.satfinite.e5m2x2.f16x2 %hd, %a;", 0x7C007FFF) == 0x7B7F);
  CHECK(run("cvt.rn.satfinite.e5m2x2.f16x2 %hd, %a;", 0x00010180) == 0x0002);  // 2^-24; 1.5 * 2^-16
  CHECK(run("cvt.rn.f16x2.e4m3x2 %d, %ha;", 0x7E81) == 0x5F009800);            // 448, -2^-9
  CHECK(run("cvt.rn.f16x2.e4m3x2 %d, %ha;", 0x7FFF) == 0x7FFF7FFF);
  CHECK(run("cvt.rn.f16x2.e5m2x2 %d, %ha;", 0x7CFD) == 0x7C007FFF);  // infinity, NaN
  CHECK(run("cvt.rn.f16x2.e5m2x2 %d, %ha;", 0x0183) == 0x01008300);
  CHECK(run("cvt.rn.relu.f16x2.e4m3x2 %d, %ha;", 0xB838) == 0x00003C00);
}

TEST_CASE("A form that the ISA has and warpsim has not is refused by name and line") {
  for (const char* body :
       {"fma.rn.oob.f16 %hd, %ha, %hb, %hc;", "vadd.s32.s32.s32 %d, %a, %b;",
        "vabsdiff4.s32.s32.s32 %d, %a, %b, %c;", "cvt.rn.satfinite.e2m1x2.f32 %hd, %a, %b;"}) {
    const Result r = launch(body, 0, 0, 0);
    INFO(body);
    CHECK(r.report.status == LaunchStatus::kUnsupported);
    const std::string name = std::string(body).substr(0, std::string(body).find(' '));
    CHECK(r.report.message.find(name) != std::string::npos);
    CHECK(r.report.message.find("PTX line 17") != std::string::npos);
  }
}

}  // namespace
}  // namespace warpsim::test
