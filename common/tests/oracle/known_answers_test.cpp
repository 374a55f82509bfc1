// The oracle itself: answers known from the PTX ISA's text, so that it does not only agree with
// itself.

#include <bit>

#include "tests/catch.h"
#include "tests/oracle/oracle.h"
#include "warpsim/ptx/parser.h"

using namespace oracle;

namespace {

constexpr uint64_t kOut = 0x10000;

// Runs `body` in a kernel with `threads` threads; %rd0 is the address of this thread's 8 bytes of
// the result.
std::vector<uint64_t> run_body(const std::string& body, uint32_t threads = 1) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>; "
      ".reg .f64 %fd<8>;\n"
      ".shared .align 8 .b8 s[1024];\n"
      "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 8; add.u64 %rd0, "
      "%rd0, %rd1;\n" +
      body + "\nret;\n}\n";
  warpsim::ptx::Module module = warpsim::ptx::parse(text, "a.cu");
  Memory memory;
  memory.add(kOut, std::vector<uint8_t>(8 * threads));
  Launch launch;
  launch.kernel = "k";
  launch.block = {threads, 1, 1};
  launch.params = {0, 0, 1, 0, 0, 0, 0, 0};
  run(module, launch, &memory);
  std::vector<uint64_t> result;
  for (uint32_t n = 0; n < threads; ++n) result.push_back(memory.load(kOut + 8 * n, 8));
  return result;
}

uint64_t word(const std::string& body) {
  return run_body(body + " st.global.u32 [%rd0], %r1;")[0];
}
uint64_t wide(const std::string& body) {
  return run_body(body + " st.global.u64 [%rd0], %rd2;")[0];
}
float number(const std::string& body) {
  return std::bit_cast<float>(
      static_cast<uint32_t>(run_body(body + " st.global.f32 [%rd0], %f1;")[0]));
}

}  // namespace

TEST_CASE("Integer arithmetic") {
  CHECK(word("mov.u32 %r2, 0x7FFFFFFF; add.s32 %r1, %r2, 1;") == 0x80000000);
  CHECK(word("mov.u32 %r2, 0x7FFFFFFF; add.sat.s32 %r1, %r2, 1;") == 0x7FFFFFFF);
  CHECK(word("mov.u32 %r2, -2; mul.hi.s32 %r1, %r2, 3;") == 0xFFFFFFFF);
  CHECK(word("mov.u32 %r2, -2; mul.hi.u32 %r1, %r2, 3;") == 2);
  CHECK(wide("mov.u32 %r2, -2; mul.wide.s32 %rd2, %r2, 3;") == uint64_t(-6));
  CHECK(word("mov.u32 %r2, -7; div.s32 %r1, %r2, 2;") == uint32_t(-3));
  CHECK(word("mov.u32 %r2, -7; rem.s32 %r1, %r2, 2;") == uint32_t(-1));
  CHECK(word("mov.u32 %r2, 5; div.u32 %r1, %r2, 0;") == 0xFFFFFFFF);
  CHECK(word("mov.u32 %r2, 0x80000000; abs.s32 %r1, %r2;") == 0x80000000);
  CHECK(word("mov.u32 %r2, 0x01020304; mov.u32 %r3, 0x01010101; dp4a.u32.u32 %r1, %r2, %r3, 5;") ==
        15);
  CHECK(word("mov.u32 %r2, -1; add.cc.u32 %r3, %r2, 1; addc.u32 %r1, 5, 0;") == 6);
  CHECK(word("mov.u32 %r2, 3; sub.cc.u32 %r3, %r2, 5; subc.u32 %r1, 9, 0;") == 8);
  CHECK(word("mov.u32 %r2, 5; sub.cc.u32 %r3, %r2, 3; subc.u32 %r1, 9, 0;") == 9);
  // The flag is set where nothing was borrowed, which nvcc's division of 128 bits relies on.
  CHECK(word("mov.u32 %r2, 5; sub.cc.u32 %r3, %r2, 3; addc.u32 %r1, 0, 0;") == 1);
  CHECK(word("mov.u32 %r2, 3; sub.cc.u32 %r3, %r2, 5; addc.u32 %r1, 0, 0;") == 0);
  CHECK(word("mov.u32 %r2, 0x00FFFFFF; mul24.lo.s32 %r1, %r2, %r2;") == 1);
}

TEST_CASE("Shifts clamp, fields end at the top bit") {
  CHECK(word("mov.u32 %r2, 1; shl.b32 %r1, %r2, 32;") == 0);
  CHECK(word("mov.u32 %r2, -8; shr.s32 %r1, %r2, 40;") == 0xFFFFFFFF);
  CHECK(word("mov.u32 %r2, -8; shr.u32 %r1, %r2, 28;") == 15);
  CHECK(word("mov.u32 %r2, 1; mov.u32 %r3, 2; shf.l.wrap.b32 %r1, %r2, %r3, 33;") == 4);
  CHECK(word("mov.u32 %r2, 1; mov.u32 %r3, 2; shf.l.clamp.b32 %r1, %r2, %r3, 33;") == 1);
  CHECK(word("mov.u32 %r2, 0xF0; bfe.u32 %r1, %r2, 4, 4;") == 15);
  CHECK(word("mov.u32 %r2, 0xF0; bfe.s32 %r1, %r2, 4, 4;") == 0xFFFFFFFF);
  CHECK(word("mov.u32 %r2, 0x80000000; bfe.s32 %r1, %r2, 31, 8;") == 0xFFFFFFFF);
  CHECK(word("mov.u32 %r2, 0xAB; bfi.b32 %r1, %r2, -1, 28, 8;") == 0xBFFFFFFF);
  CHECK(word("mov.u32 %r2, 0x00FF0000; bfind.u32 %r1, %r2;") == 23);
  CHECK(word("mov.u32 %r2, 0; bfind.u32 %r1, %r2;") == 0xFFFFFFFF);
  CHECK(word("mov.u32 %r2, 0x00FF0000; bfind.shiftamt.u32 %r1, %r2;") == 8);
  CHECK(word("mov.u32 %r2, 1; brev.b32 %r1, %r2;") == 0x80000000);
  CHECK(word("mov.u32 %r2, 0x03020100; mov.u32 %r3, 0x87060504; prmt.b32 %r1, %r2, %r3, 0xF740;") ==
        0xFF870400);
  CHECK(word("mov.u32 %r2, 0xC; mov.u32 %r3, 0xA; lop3.b32 %r1, %r2, %r3, 0xF, 0x28;") == 6);
}

TEST_CASE("Floating point rounds as asked and has one single-precision NaN") {
  CHECK(number("mov.f32 %f2, 0f3F800000; add.rp.f32 %f1, %f2, 0f00000001;") ==
        std::nextafter(1.0f, 2.0f));
  CHECK(number("mov.f32 %f2, 0f3F800000; add.rn.f32 %f1, %f2, 0f00000001;") == 1.0f);
  CHECK(number("mov.f32 %f2, 0f40400000; div.rn.f32 %f1, 0f3F800000, %f2;") == 1.0f / 3.0f);
  CHECK(word("mov.f32 %f2, 0f7F800000; sub.f32 %f1, %f2, %f2; mov.b32 %r1, %f1;") == 0x7FFFFFFF);
  CHECK(word("mov.f32 %f2, 0f00000001; add.ftz.f32 %f1, %f2, 0f00000000; mov.b32 %r1, %f1;") == 0);
  CHECK(word("mov.f32 %f2, 0fFFC00001; add.sat.f32 %f1, %f2, %f2; mov.b32 %r1, %f1;") == 0);
  CHECK(word("min.f32 %f1, 0f00000000, 0f80000000; mov.b32 %r1, %f1;") == 0x80000000);
  CHECK(word("max.f32 %f1, 0f7FC00000, 0f3F800000; mov.b32 %r1, %f1;") == 0x3F800000);
  CHECK(word("max.NaN.f32 %f1, 0f7FC00000, 0f3F800000; mov.b32 %r1, %f1;") == 0x7FFFFFFF);
}

TEST_CASE("Conversions saturate; a NaN becomes zero or the highest bit") {
  CHECK(word("mov.f32 %f1, 0f4F800000; cvt.rzi.s32.f32 %r1, %f1;") == 0x7FFFFFFF);
  CHECK(word("mov.f32 %f1, 0fBF800000; cvt.rzi.u32.f32 %r1, %f1;") == 0);
  CHECK(word("mov.f32 %f1, 0f7FFFFFFF; cvt.rzi.s32.f32 %r1, %f1;") == 0);
  CHECK(word("mov.f32 %f1, 0f40200000; cvt.rni.s32.f32 %r1, %f1;") == 2);
  CHECK(word("mov.u32 %r2, 0x180; cvt.s8.s32 %r1, %r2;") == 0xFFFFFF80);
  CHECK(word("mov.u32 %r2, 0x180; cvt.u8.u32 %r1, %r2;") == 0x80);
  CHECK(word("mov.u32 %r2, -5; cvt.sat.u8.s32 %r1, %r2;") == 0);
  CHECK(word("mov.u32 %r2, 16777217; cvt.rp.f32.s32 %f1, %r2; mov.b32 %r1, %f1;") == 0x4B800001);
}

TEST_CASE("Half precision rounds the exact result once") {
  CHECK(word("mov.f32 %f1, 0f3F801000; cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r1, %rs1;") ==
        0x3C00);  // a tie: to even
  CHECK(word("mov.f32 %f1, 0f3F803000; cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r1, %rs1;") ==
        0x3C02);
  CHECK(word("mov.f32 %f1, 0f477FF000; cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r1, %rs1;") ==
        0x7C00);
  CHECK(word("mov.f32 %f1, 0f33800000; cvt.rn.f16.f32 %rs1, %f1; cvt.u32.u16 %r1, %rs1;") == 1);
  CHECK(word("mov.b32 %r2, 0x3C003C00; add.f16x2 %r1, %r2, %r2;") == 0x40004000);
  // 9 * 29 lies half way between two bfloat16 numbers; the addend decides although it is 2^-40 of
  // it.
  CHECK(word("mov.b32 %r2, 0x00004110; mov.b32 %r3, 0x000041E8; mov.b32 %r4, 0x00002F80; "
             "fma.rn.bf16x2 %r1, %r2, %r3, %r4;") == 0x4383);
}

TEST_CASE("Lanes exchange values") {
  auto out = run_body(
      "shfl.sync.down.b32 %r1|%p1, %r0, 1, 31, -1; selp.u32 %r2, 1, 0, %p1; st.global.v2.u32 "
      "[%rd0], {%r1, %r2};",
      32);
  CHECK(out[3] == (uint64_t{1} << 32 | 4));
  CHECK(out[31] == 31);
  out = run_body(
      "setp.lt.u32 %p1, %r0, 4; vote.sync.ballot.b32 %r1, %p1, -1; st.global.u32 [%rd0], %r1;", 32);
  CHECK(out[17] == 15);
  out = run_body("and.b32 %r2, %r0, 1; match.any.sync.b32 %r1, %r2, -1; st.global.u32 [%rd0], %r1;",
                 32);
  CHECK(out[3] == 0xAAAAAAAA);
  out = run_body("redux.sync.add.s32 %r1, %r0, -1; st.global.u32 [%rd0], %r1;", 32);
  CHECK(out[3] == 496);
}

TEST_CASE("Barriers order shared memory") {
  auto out = run_body(
      "mov.u32 %r2, s; mad.lo.u32 %r3, %r0, 4, %r2; st.shared.u32 [%r3], %r0; bar.sync 0;"
      "xor.b32 %r4, %r0, 63; mad.lo.u32 %r3, %r4, 4, %r2; ld.shared.u32 %r1, [%r3]; st.global.u32 "
      "[%rd0], %r1;",
      64);
  CHECK(out[0] == 63);
  CHECK(out[40] == 23);
  out = run_body(
      "setp.lt.u32 %p1, %r0, 5; bar.red.popc.u32 %r1, 0, %p1; st.global.u32 [%rd0], %r1;", 64);
  CHECK(out[50] == 5);
}

TEST_CASE("What has no result is an error, not a guess") {
  CHECK_THROWS_AS(word("ld.global.u32 %r1, [4096];"), Undefined);
  CHECK_THROWS_AS(word("ld.global.u32 %r1, [%rd0+2];"), Undefined);
  CHECK_THROWS_AS(word("add.s32 %r1, %r2, 1;"), Undefined);
  CHECK_THROWS_AS(word("activemask.b32 %r1;"), Undefined);
  CHECK_THROWS_AS(run_body("setp.eq.u32 %p1, %r0, 0; @%p1 bar.sync 0; @!%p1 bar.sync 1;", 2),
                  Undefined);
  CHECK_THROWS_AS(word("$L: bra $L;"), Undefined);
}
