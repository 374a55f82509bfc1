#include <algorithm>

#include "tests/oracle/generator.h"

namespace oracle {

Program Generator::run() {
  Program program;
  program.block = block();
  program.grid = {1 + below(2), 1, 1};
  threads_ = program.block[0] * program.block[1] * program.block[2];
  whole_warps_ = threads_ % 32 == 0;
  text_ = ".version 8.0\n.target sm_90\n.address_size 64\n";
  text_ +=
      ".const .align 8 .u32 table[16] = {1, 0x80000000, 3, 0x7F800000, 5, -1, 7, 0x00000001, 9, "
      "10, "
      "0x3F800000, 12, 0xFF800000, 14, 0x7FFFFFFF, 16};\n";
  for (int n = 0; n < kFunctions; ++n) function(n);
  kernel();
  program.ptx = std::move(text_);
  return program;
}

std::array<uint32_t, 3> Generator::block() {
  constexpr std::array<uint32_t, 3> kShapes[] = {{32, 1, 1}, {64, 1, 1}, {16, 4, 1}, {96, 1, 1},
                                                 {8, 8, 2},  {40, 1, 1}, {9, 5, 1}};
  return kShapes[below(7)];
}

void Generator::compute() {
  std::string guard = chance(15) ? (chance(50) ? "@!" : "@") + name("%p", kPredicates) + " " : "";
  line(guard + operation());
}

void Generator::statements(uint32_t count, int depth) {
  for (uint32_t n = 0; n < count; ++n) statement(depth);
}

void Generator::statement(int depth) {
  if (left_ == 0) return compute();
  --left_;
  uint32_t kind = below(100);
  if (in_function_ || kind < 55) return compute();
  if (depth == 0 && kind < 68) return collective();
  if (depth < 3 && kind < 75) return branch(depth);
  if (depth < 3 && kind < 79) return loop(depth);
  if (depth < 2 && kind < 81) return table_branch(depth);
  if (kind < 85) return load_input();
  if (kind < 87) return load_constant();
  if (kind < 89) return local_memory();
  if (kind < 90) return unpack();
  if (kind < 91) return carry();
  if (kind < 92) return two_predicates();
  if (kind < 94) return count();
  if (kind < 95) return extreme();
  if (kind < 97) return own_atomic();
  return call();
}

void Generator::declare_registers() {
  line(".reg .b32 %r<" + std::to_string(kWords) +
       ">, %i<2>, %bound<4>, %round<4>, %t<6>, %thread, %uniform");
  line(".reg .b64 %d<" + std::to_string(kDoubles) +
       ">, %a<2>, %in, %out, %counters, %own, %junk, %tg");
  line(".reg .b16 %h<" + std::to_string(kHalves) + ">");
  line(".reg .f32 %f<" + std::to_string(kFloats) + ">");
  line(".reg .f64 %g<" + std::to_string(kReals) + ">");
  line(".reg .pred %p<" + std::to_string(kPredicates) + ">, %again");
}

void Generator::function(int number) {
  std::string name = "function" + std::to_string(number);
  text_ += ".func (.param .align 8 .b8 result[16]) " + name +
           " (.param .b32 a, .param .b32 b, .param .b64 c)\n{\n";
  declare_registers();
  line("ld.param.u32 %r0, [a]"), line("ld.param.f32 %f0, [b]"), line("ld.param.u64 %d0, [c]");
  for (int n = 1; n < kWords; ++n)
    line("add.s32 %r" + std::to_string(n) + ", %r0, " + std::to_string(n));
  for (int n = 1; n < kFloats; ++n) line("mul.f32 %f" + std::to_string(n) + ", %f0, 0f3F000000");
  for (int n = 1; n < kDoubles; ++n)
    line("xor.b64 %d" + std::to_string(n) + ", %d0, " + std::to_string(n));
  for (int n = 0; n < kHalves; ++n)
    line("cvt.u16.u32 %h" + std::to_string(n) + ", %r" + std::to_string(n));
  for (int n = 0; n < kReals; ++n)
    line("cvt.f64.f32 %g" + std::to_string(n) + ", %f" + std::to_string(n));
  for (int n = 0; n < kPredicates; ++n)
    line("setp.gt.s32 %p" + std::to_string(n) + ", %r" + std::to_string(n) + ", 5");
  in_function_ = true;
  statements(3, 1);
  if (chance(50)) branch(2);
  in_function_ = false;
  line("st.param.b32 [result+0], " + operand('R'));
  line("st.param.f32 [result+4], " + operand('F'));
  line("st.param.b64 [result+8], " + operand('D'));
  line("ret");
  text_ += "}\n";
}

void Generator::kernel() {
  text_ += ".visible .entry k (.param .u64 in, .param .u64 out, .param .u64 counters)\n{\n";
  declare_registers();
  line(".shared .align 16 .b8 tile[" + std::to_string(16 * threads_) + "]");
  line(".shared .align 4 .b8 counter[4]");
  line(".local .align 16 .b8 array[32]");
  prologue();
  statements(left_, 0);
  if (chance(30)) branch(0);
  if (chance(20)) line("bar.sync 0");
  if (chance(25)) early_return();
  epilogue();
  if (chance(30)) line("@%p0 exit");
  store_results();
  line("ret");
  text_ += "}\n";
}

void Generator::prologue() {
  line("ld.param.u64 %in, [in]"), line("ld.param.u64 %out, [out]"),
      line("ld.param.u64 %counters, [counters]");
  line("cvta.to.global.u64 %in, %in");
  line("mov.u32 %i0, %tid.x"), line("mov.u32 %i1, %tid.y");
  line("mov.u32 %bound0, %ntid.x"), line("mov.u32 %bound1, %ntid.y");
  line("mad.lo.u32 %thread, %i1, %bound0, %i0");
  line("mov.u32 %i1, %tid.z");
  line("mul.lo.u32 %bound1, %bound0, %bound1");
  line("mad.lo.u32 %thread, %i1, %bound1, %thread");
  line("mov.u32 %bound2, %ntid.z"), line("mul.lo.u32 %bound1, %bound1, %bound2");
  line("mov.u32 %i0, %ctaid.x");
  line("mad.lo.u32 %i0, %i0, %bound1, %thread");
  line("mad.wide.u32 %out, %i0, " + std::to_string(kOutBytesPerThread) + ", %out");
  line("add.u64 %own, %out, " + std::to_string(kOutBytesPerThread - 8));
  line("st.global.u64 [%own], 0");
  line("and.b32 %i1, %i0, 31"), line("mul.wide.u32 %a0, %i1, 64"), line("add.u64 %a0, %in, %a0");
  auto load = [&](const char* type, const char* prefix, int count, int bytes) {
    for (int n = 0; n < count; ++n) {
      line("ld.global." + std::string(type) + " " + prefix + std::to_string(n) + ", [%a0+" +
           std::to_string(bytes * n) + "]");
    }
  };
  load("u32", "%r", kWords, 4), load("u64", "%d", kDoubles, 8), load("u16", "%h", kHalves, 2),
      load("f32", "%f", kFloats, 8), load("f64", "%g", kReals, 16);
  for (int n = 0; n < kPredicates; ++n) {
    line("and.b32 %i1, %r0, " + std::to_string(1 << n)),
        line("setp.ne.u32 %p" + std::to_string(n) + ", %i1, 0");
  }
  for (int n = 0; n < 32; n += 4) line("st.local.u32 [array+" + std::to_string(n) + "], %i0");
}

// A double-precision NaN has no defined payload: one pattern for all of them.
void Generator::epilogue() {
  for (int n = 0; n < kReals; ++n) {
    std::string g = "%g" + std::to_string(n);
    line("setp.nan.f64 %again, " + g + ", " + g);
    line("selp.f64 " + g + ", 0d7FF8000000000000, " + g + ", %again");
  }
}

void Generator::store_results() {
  int at = 0;
  auto store = [&](const char* type, const char* prefix, int count, int bytes) {
    for (int n = 0; n < count; ++n, at += bytes) {
      line("st.global." + std::string(type) + " [%out+" + std::to_string(at) + "], " + prefix +
           std::to_string(n));
    }
  };
  store("u64", "%d", kDoubles, 8), store("f64", "%g", kReals, 8);
  store("u32", "%r", kWords, 4), store("f32", "%f", kFloats, 4), store("u16", "%h", kHalves, 2);
  for (int n = 0; n < kPredicates; ++n, at += 4) {
    line("selp.u32 %i0, 1, 0, %p" + std::to_string(n)),
        line("st.global.u32 [%out+" + std::to_string(at) + "], %i0");
  }
}

Program generate(uint32_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace oracle
