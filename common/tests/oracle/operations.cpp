#include "tests/oracle/operations.h"

#include <algorithm>
#include <vector>

namespace oracle {

namespace {

// {a|b} is a choice. Operands, after the first space: capitals are written, small letters read.
//   R r 32 bits   D d 64 bits   H h 16 bits   F f f32   G g f64   P p predicate   q predicate or
//   its negation n 0..40, a shift or position   N the bits of a small field
constexpr std::string_view kOperations[] = {
    "{add|sub|mul.lo|mul.hi|min|max|div|rem}.{s32|u32} R, r, r",
    "{add|sub|mul.lo|mul.hi|min|max|div|rem}.{s64|u64} D, d, d",
    "{add|sub|mul.lo|mul.hi|min|max|div|rem}.{s16|u16} H, h, h",
    "{add|sub}.sat.s32 R, r, r",
    "mul.wide.{s32|u32} D, r, r",
    "mul.wide.{s16|u16} R, h, h",
    "{mad.lo|mad.hi}.{s32|u32} R, r, r, r",
    "{mad.lo|mad.hi}.{s64|u64} D, d, d, d",
    "mad.wide.{s32|u32} D, r, r, d",
    "mad.wide.{s16|u16} R, h, h, r",
    "mul24.{lo|hi}.{s32|u32} R, r, r",
    "mad24.{lo|hi}.{s32|u32} R, r, r, r",
    "{abs|neg}.s32 R, r",
    "{abs|neg}.s64 D, d",
    "sad.{s32|u32} R, r, r, r",
    "dp4a.{u32|s32}.{u32|s32} R, r, r, r",
    "dp2a.{lo|hi}.{u32|s32}.{u32|s32} R, r, r, r",
    "{and|or|xor}.b32 R, r, r",
    "{and|or|xor}.b64 D, d, d",
    "{and|or|xor}.b16 H, h, h",
    "{not|cnot}.b32 R, r",
    "{not|cnot}.b64 D, d",
    "{shl.b32|shr.u32|shr.s32} R, r, n",
    "{shl.b64|shr.u64|shr.s64} D, d, n",
    "{shl.b16|shr.u16|shr.s16} H, h, n",
    "shf.{l|r}.{wrap|clamp}.b32 R, r, r, n",
    "lop3.b32 R, r, r, r, {0x96|0xE8|0x1B|0x80|0xFE|0x3C}",
    "prmt.b32 R, r, r, r",
    "prmt.b32.{f4e|b4e|rc8|ecl|ecr|rc16} R, r, r, r",
    "{popc|clz}.b32 R, r",
    "{popc|clz}.b64 R, d",
    "brev.b32 R, r",
    "brev.b64 D, d",
    "{bfind|bfind.shiftamt}.{u32|s32} R, r",
    "{bfind|bfind.shiftamt}.{u64|s64} R, d",
    "bfe.{u32|s32} R, r, N, N",
    "bfe.{u64|s64} D, d, N, N",
    "bfi.b32 R, r, r, N, N",
    "bfi.b64 D, d, d, N, N",
    "{add|sub|mul}.f32 F, f, f",
    "{add|sub|mul}.{rn|rz|rm|rp}.f32 F, f, f",
    "{add|sub|mul}.{ftz|sat|rn.ftz|ftz.sat}.f32 F, f, f",
    "fma.{rn|rz|rm|rp}.f32 F, f, f, f",
    "fma.rn.{ftz|sat|ftz.sat}.f32 F, f, f, f",
    "div.{rn|rz|rm|rp}.f32 F, f, f",
    "div.rn.ftz.f32 F, f, f",
    "{rcp|sqrt}.{rn|rz|rm|rp}.f32 F, f",
    "{rcp|sqrt}.rn.ftz.f32 F, f",
    "{min|max|min.ftz|max.ftz|min.NaN|max.NaN}.f32 F, f, f",
    "{abs|neg|abs.ftz|neg.ftz}.f32 F, f",
    "copysign.f32 F, f, f",
    "{add|sub|mul}.f64 G, g, g",
    "{add|sub|mul}.{rn|rz|rm|rp}.f64 G, g, g",
    "fma.{rn|rz|rm|rp}.f64 G, g, g, g",
    "div.{rn|rz|rm|rp}.f64 G, g, g",
    "{rcp|sqrt}.{rn|rz|rm|rp}.f64 G, g",
    "{min|max}.f64 G, g, g",
    "{abs|neg}.f64 G, g",
    "testp.{finite|infinite|number|notanumber|normal|subnormal}.f32 P, f",
    "testp.{finite|infinite|number|notanumber|normal|subnormal}.f64 P, g",
    "setp.{eq|ne|lt|le|gt|ge}.{s32|u32} P, r, r",
    "setp.{eq|ne|lt|le|gt|ge}.{s64|u64} P, d, d",
    "setp.{eq|ne|lt|le|gt|ge}.{s16|u16} P, h, h",
    "setp.{lo|ls|hi|hs}.u32 P, r, r",
    "setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.{f32|ftz.f32} P, f, f",
    "setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.f64 P, g, g",
    "setp.{eq|lt|ge}.{and|or|xor}.{s32|u32} P, r, r, q",
    "setp.{ne|ltu|gt}.{and|or|xor}.f32 P, f, f, q",
    "set.{eq|lt|ge}.{u32|s32}.s32 R, r, r",
    "set.{eq|lt|geu}.u32.f32 R, f, f",
    "set.{eq|lt|ge}.f32.{s32|u32} F, r, r",
    "selp.b32 R, r, r, p",
    "selp.b64 D, d, d, p",
    "selp.f32 F, f, f, p",
    "selp.f64 G, g, g, p",
    "slct.u32.s32 R, r, r, r",
    "slct.f32.f32 F, f, f, f",
    "slct.u64.s32 D, d, d, r",
    "{and|or|xor}.pred P, p, p",
    "not.pred P, p",
    "mov.b32 R, r",
    "mov.b32 R, f",
    "mov.b32 F, r",
    "mov.b64 D, d",
    "mov.b64 D, {r, r}",
    "mov.b32 R, {h, h}",
    "cvt.{rn|rz|rm|rp}.f32.{s32|u32} F, r",
    "cvt.{rn|rz|rm|rp}.f32.{s64|u64} F, d",
    "cvt.{rn|rz|rm|rp}.f64.{s64|u64} G, d",
    "cvt.rn.f64.{s32|u32} G, r",
    "cvt.{rni|rzi|rmi|rpi}.{s32|u32}.f32 R, f",
    "cvt.{rni|rzi|rmi|rpi}.{s64|u64}.f32 D, f",
    "cvt.{rni|rzi|rmi|rpi}.{s32|u32}.f64 R, g",
    "cvt.{rni|rzi|rmi|rpi}.{s64|u64}.f64 D, g",
    "cvt.{rni|rzi}.{s16|u16}.f32 H, f",
    "cvt.{rni|rzi|rmi|rpi}.f32.f32 F, f",
    "cvt.{rni|rzi|rmi|rpi}.f64.f64 G, g",
    "cvt.{sat|ftz|ftz.sat}.f32.f32 F, f",
    "cvt.f64.f32 G, f",
    "cvt.{rn|rz|rm|rp}.f32.f64 F, g",
    "cvt.{s8|u8|s16|u16}.{s32|u32} R, r",
    "cvt.sat.{s8|u8|s16|u16}.{s32|u32} R, r",
    "cvt.{s64|u64}.{s32|u32|s16|u16|s8|u8} D, r",
    "cvt.{s32|u32|s16|u8}.{s64|u64} R, d",
    "cvt.{u32|s32}.{s16|u16} R, h",
    "cvt.{u16|s16}.{u32|s32} H, r",
    "cvt.sat.{s32|u32}.{s64|u64} R, d",
    "{add|sub|mul}.{f16|bf16} H, h, h",
    "fma.rn.{f16|bf16} H, h, h, h",
    "{add|sub|mul}.{f16x2|bf16x2} R, R, R",
    "fma.rn.{f16x2|bf16x2} R, R, R, R",
    "cvt.rn.{f16|bf16}.f32 H, f",
    "cvt.f32.{f16|bf16} F, h",
    "cvt.rn.{f16x2|bf16x2}.f32 R, f, f",
    "cvt.rn.satfinite.{e4m3x2|e5m2x2|relu.e4m3x2|relu.e5m2x2}.f32 H, f, f",
    "cvt.rn.satfinite.{e4m3x2|e5m2x2|relu.e4m3x2|relu.e5m2x2}.f16x2 H, r",
    "cvt.rn.{f16x2|relu.f16x2}.{e4m3x2|e5m2x2} R, h",
};

}  // namespace

std::string RandomText::word_literal() {
  constexpr const char* kValues[] = {"0",  "1",          "-1",         "2",   "31",         "32",
                                     "33", "0x7FFFFFFF", "0x80000000", "255", "0x12345678", "-100"};
  return kValues[below(12)];
}
std::string RandomText::float_literal() {
  constexpr const char* kValues[] = {"0f00000000", "0f80000000", "0f3F800000", "0fBF800000",
                                     "0f7F800000", "0f7FC00000", "0f00000001", "0f807FFFFF",
                                     "0f7F7FFFFF", "0f4B800000", "0f3EAAAAAB", "0f33800000",
                                     "0fFF800000", "0f4F000000"};
  return kValues[below(14)];
}
std::string RandomText::double_literal() {
  constexpr const char* kValues[] = {
      "0d0000000000000000", "0d3FF0000000000000", "0dBFF0000000000000",
      "0d7FF0000000000000", "0d0000000000000001", "0d3FD5555555555555",
      "0d41E0000000000000", "0d43F0000000000000", "0d3CA0000000000000"};
  return kValues[below(9)];
}

std::string RandomText::operand(char letter) {
  bool literal = chance(25);
  switch (letter) {
    case 'R':
      return name("%r", kWords);
    case 'r':
      return literal ? word_literal() : name("%r", kWords);
    case 'D':
      return name("%d", kDoubles);
    case 'd':
      return literal ? word_literal() : name("%d", kDoubles);
    case 'H':
    case 'h':
      return name("%h", kHalves);
    case 'F':
      return name("%f", kFloats);
    case 'f':
      return literal ? float_literal() : name("%f", kFloats);
    case 'G':
      return name("%g", kReals);
    case 'g':
      return literal ? double_literal() : name("%g", kReals);
    case 'P':
    case 'p':
      return name("%p", kPredicates);
    case 'q':
      return (chance(50) ? "!" : "") + name("%p", kPredicates);
    case 'n':
      return chance(30) ? name("%r", kWords) : std::to_string(below(70));
    case 'N':
      return chance(20) ? name("%r", kWords) : std::to_string(below(40));
    default:
      return std::string(1, letter);
  }
}

// Resolves choices; braces that hold no '|' are a vector's.
std::string RandomText::choose(std::string_view pattern) {
  std::string result;
  for (size_t at = 0; at < pattern.size();) {
    size_t end = pattern.find('}', at);
    std::string_view inside = pattern[at] == '{' ? pattern.substr(at + 1, end - at - 1) : "";
    if (inside.find('|') == inside.npos) {
      result += pattern[at++];
      continue;
    }
    std::vector<std::string_view> options;
    for (size_t from = 0; from <= inside.size();) {
      size_t bar = std::min(inside.find('|', from), inside.size());
      options.push_back(inside.substr(from, bar - from));
      from = bar + 1;
    }
    result += options[below(static_cast<uint32_t>(options.size()))];
    at = end + 1;
  }
  return result;
}

std::string RandomText::operation() {
  std::string chosen = choose(kOperations[below(std::size(kOperations))]);
  size_t space = chosen.find(' ');
  std::string result = chosen.substr(0, space + 1);
  for (size_t at = space + 1; at < chosen.size(); ++at) {
    bool alone = (chosen[at - 1] == ' ' || chosen[at - 1] == '{') &&
                 (at + 1 == chosen.size() || chosen[at + 1] == ',' || chosen[at + 1] == '}');
    result += alone ? operand(chosen[at]) : std::string(1, chosen[at]);
  }
  return result;
}

}  // namespace oracle
