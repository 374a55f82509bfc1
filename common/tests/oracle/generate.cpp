#include "tests/oracle/generate.h"

#include <algorithm>
#include <random>
#include <string_view>
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
};

constexpr int kWords = 8, kDoubles = 6, kHalves = 4, kFloats = 6, kReals = 4, kPredicates = 6;
constexpr int kFunctions = 3;

class Generator {
 public:
  Generator(uint32_t seed, const GeneratorOptions& options)
      : options_(options), random_(seed), left_(options.statements) {}

  Program run() {
    Program program;
    program.block = block();
    program.grid = {1 + below(2), 1, 1};
    threads_ = program.block[0] * program.block[1] * program.block[2];
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

 private:
  uint32_t below(uint32_t end) { return random_() % end; }
  bool chance(uint32_t percent) { return below(100) < percent; }
  void line(const std::string& text) { text_ += "\t" + text + ";\n"; }
  std::string label() { return "$L" + std::to_string(labels_++); }

  std::array<uint32_t, 3> block() {
    constexpr std::array<uint32_t, 3> kShapes[] = {
        {32, 1, 1}, {64, 1, 1}, {16, 4, 1}, {96, 1, 1}, {8, 8, 2}};
    return kShapes[below(5)];
  }

  // Operands.
  std::string name(const char* prefix, int count) {
    return prefix + std::to_string(below(static_cast<uint32_t>(count)));
  }
  std::string word_literal() {
    constexpr const char* kValues[] = {"0",          "1",   "-1",         "2",
                                       "31",         "32",  "33",         "0x7FFFFFFF",
                                       "0x80000000", "255", "0x12345678", "-100"};
    return kValues[below(12)];
  }
  std::string float_literal() {
    constexpr const char* kValues[] = {"0f00000000", "0f80000000", "0f3F800000", "0fBF800000",
                                       "0f7F800000", "0f7FC00000", "0f00000001", "0f807FFFFF",
                                       "0f7F7FFFFF", "0f4B800000", "0f3EAAAAAB", "0f33800000",
                                       "0fFF800000", "0f4F000000"};
    return kValues[below(14)];
  }
  std::string double_literal() {
    constexpr const char* kValues[] = {
        "0d0000000000000000", "0d3FF0000000000000", "0dBFF0000000000000",
        "0d7FF0000000000000", "0d0000000000000001", "0d3FD5555555555555",
        "0d41E0000000000000", "0d43F0000000000000", "0d3CA0000000000000"};
    return kValues[below(9)];
  }

  std::string operand(char letter) {
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
  std::string choose(std::string_view pattern) {
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

  std::string operation() {
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

  void compute() {
    std::string guard = chance(15) ? (chance(50) ? "@!" : "@") + name("%p", kPredicates) + " " : "";
    line(guard + operation());
  }

  // Statements that any thread may run alone.
  void load_input() {
    constexpr const char* kLoads[] = {"ld.global.u8 R",          "ld.global.s8 R",
                                      "ld.global.u16 R",         "ld.global.s16 R",
                                      "ld.global.u32 R",         "ld.global.nc.f32 F",
                                      "ld.global.s32 D",         "ld.global.u64 D",
                                      "ld.global.v2.u32 {R, R}", "ld.global.v4.f32 {F, F, F, F}",
                                      "ld.global.v2.u64 {D, D}"};
    line("and.b32 %i0, " + name("%r", kWords) + ", " + std::to_string(kInBytes - 16));
    line("cvt.u64.u32 %a0, %i0");
    line("add.u64 %a0, %a0, %in");
    std::string chosen = kLoads[below(std::size(kLoads))];
    size_t space = chosen.find(' ');
    std::string text = chosen.substr(0, space + 1);
    std::vector<std::string> used;
    for (char c : chosen.substr(space + 1)) {
      std::string piece = c >= 'A' && c <= 'Z' ? distinct(c, &used) : std::string(1, c);
      text += piece;
    }
    line(text + ", [%a0]");
  }

  // A register that the vector has not got yet.
  std::string distinct(char letter, std::vector<std::string>* used) {
    for (;;) {
      std::string candidate = operand(letter);
      if (std::find(used->begin(), used->end(), candidate) != used->end()) continue;
      used->push_back(candidate);
      return candidate;
    }
  }

  void load_constant() {
    line("and.b32 %i0, " + name("%r", kWords) + ", 60");
    line("cvt.u64.u32 %a0, %i0");
    line("mov.u64 %a1, table");
    line("add.u64 %a0, %a0, %a1");
    line("ld.const.u32 " + operand('R') + ", [%a0]");
  }

  void local_memory() {
    line("and.b32 %i0, " + name("%r", kWords) + ", 28");
    line("cvt.u64.u32 %a0, %i0");
    line("mov.u64 %a1, array");
    line("add.u64 %a0, %a0, %a1");
    line("st.local.u32 [%a0], " + operand('R'));
    line("and.b32 %i0, " + name("%r", kWords) + ", 28");
    line("cvt.u64.u32 %a0, %i0");
    if (chance(50)) {
      line("add.u64 %a0, %a0, %a1");
      line("ld.local.u32 " + operand('R') + ", [%a0]");
    } else {  // through the generic address
      line("cvta.local.u64 %a1, %a1");
      line("add.u64 %a0, %a0, %a1");
      line("ld.u32 " + operand('R') + ", [%a0]");
    }
  }

  void unpack() {
    if (chance(50))
      line("mov.b64 {%r0, %r1}, " + operand('D'));
    else
      line("mov.b32 {%h0, %h1}, " + operand('R'));
  }

  void two_predicates() {
    line(choose("setp.{lt|eq}.{and|or}.s32 %p0|%p1, ") + operand('r') + ", " + operand('R') + ", " +
         operand('q'));
  }

  // The order in which threads come changes nothing: nobody reads the old value.
  void count() {
    std::string word = "[%counters+" + std::to_string(8 * below(8)) + "], ";
    std::string wide = "[%counters+" + std::to_string(64 + 8 * below(8)) + "], ";
    switch (below(3)) {
      case 0:
        line("red.global.add.u32 " + word + operand('R'));
        break;
      case 1:
        line("atom.global.add.u64 %junk, " + wide + operand('D'));
        break;
      default:
        line("@" + name("%p", kPredicates) + " red.global.add.s32 " + word + "1");
        break;
    }
  }
  void extreme() {
    if (chance(50))
      line("red.global.max.s32 [%counters+" + std::to_string(128 + 16 * below(4)) + "], " +
           operand('R'));
    else
      line("red.global.or.b32 [%counters+" + std::to_string(192 + 16 * below(4)) + "], " +
           operand('R'));
  }

  // On a word of this thread alone the old value is defined too.
  void own_atomic() {
    constexpr std::string_view kAtomics[] = {
        "{add|min|max}.s32 R, [%own], r", "{min|max|inc|dec}.u32 R, [%own], r",
        "{and|or|xor|exch}.b32 R, [%own], r", "cas.b32 R, [%own], r, r", "add.f32 F, [%own], f"};
    std::string chosen = choose(kAtomics[below(std::size(kAtomics))]), text = "atom.global.";
    for (size_t at = 0; at < chosen.size(); ++at) {
      bool alone =
          at > 0 && chosen[at - 1] == ' ' && (at + 1 == chosen.size() || chosen[at + 1] == ',');
      text += alone ? operand(chosen[at]) : std::string(1, chosen[at]);
    }
    line(text);
  }

  void branch(int depth) {
    std::string other = label(), join = label();
    line(std::string(chance(50) ? "@" : "@!") + name("%p", kPredicates) + " bra " + other);
    statements(1 + below(4), depth + 1);
    if (chance(60)) {
      line("bra.uni " + join);
      text_ += other + ":\n";
      statements(1 + below(4), depth + 1);
      text_ += join + ":\n";
    } else {
      text_ += other + ":\n";
    }
  }

  // Each lane has its own number of rounds, 1 to 4; sometimes with a way out in the middle.
  void loop(int depth) {
    std::string head = label(), exit = label(), d = std::to_string(depth);
    line("and.b32 %bound" + d + ", " + name("%r", kWords) + ", 3");
    line("mov.u32 %round" + d + ", 0");
    text_ += head + ":\n";
    statements(1 + below(3), depth + 1);
    if (chance(40)) {
      line("@" + name("%p", kPredicates) + " bra " + exit);
      statements(1 + below(2), depth + 1);
    }
    line("add.u32 %round" + d + ", %round" + d + ", 1");
    line("setp.le.u32 %again, %round" + d + ", %bound" + d);
    line("@%again bra " + head);
    text_ += exit + ":\n";
  }

  void table_branch(int depth) {
    std::string targets = label(), join = label();
    std::vector<std::string> arms{label(), label(), label(), label()};
    text_ += targets + ": .branchtargets " + arms[0] + ", " + arms[1] + ", " + arms[2] + ", " +
             arms[3] + ";\n";
    line("and.b32 %i0, " + name("%r", kWords) + ", 3");
    line("brx.idx %i0, " + targets);
    for (const std::string& arm : arms) {
      text_ += arm + ":\n";
      statements(1, depth + 1);
      if (chance(70)) line("bra.uni " + join);
    }
    text_ += join + ":\n";
  }

  void call() {
    std::string callee = "function" + std::to_string(below(kFunctions));
    text_ += "\t{\n";
    line(".param .b32 p0"), line(".param .b32 p1"), line(".param .b64 p2"),
        line(".param .align 8 .b8 back[16]");
    line("st.param.b32 [p0+0], " + operand('R'));
    line("st.param.f32 [p1+0], " + operand('F'));
    line("st.param.b64 [p2+0], " + operand('D'));
    line("call.uni (back), " + callee + ", (p0, p1, p2)");
    line("ld.param.b32 " + operand('R') + ", [back+0]");
    line("ld.param.f32 " + operand('F') + ", [back+4]");
    line("ld.param.b64 " + operand('D') + ", [back+8]");
    text_ += "\t}\n";
  }

  // Statements that all threads of the block run together.
  void shuffle() {
    std::string mode = choose("{up|down|bfly|idx}"), lane = std::to_string(below(34));
    std::string clamp = mode == "up" ? choose("{0|6144|7168}")
                                     : choose("{31|6175|7199}");  // whole warp, segments of 8 or 4
    std::string b = mode == "idx" && chance(50) ? operand('R') : lane;
    std::string source = operand('R');
    line("shfl.sync." + mode + ".b32 " + operand('R') +
         (chance(60) ? "|" + name("%p", kPredicates) : "") + ", " + source + ", " + b + ", " +
         clamp + ", -1");
  }

  void vote() {
    switch (below(6)) {
      case 0:
        line("vote.sync.ballot.b32 " + operand('R') + ", " + operand('p') + ", -1");
        break;
      case 1:
        line(choose("vote.sync.{all|any|uni}.pred ") + operand('P') + ", " + operand('q') + ", -1");
        break;
      case 2:
        line("and.b32 %i0, " + operand('R') + ", 3");
        line("match.any.sync.b32 " + operand('R') + ", %i0, -1");
        break;
      case 3:
        line("match.all.sync.b32 " + operand('R') + "|" + operand('P') + ", " + operand('R') +
             ", -1");
        break;
      case 4:
        line(choose("redux.sync.{add|min|max}.{s32|u32} ") + operand('R') + ", " + operand('R') +
             ", -1");
        break;
      default:
        line(choose("redux.sync.{and|or|xor}.b32 ") + operand('R') + ", " + operand('R') + ", -1");
        break;
    }
  }

  // Everybody writes its own 16 bytes, and reads somebody else's behind the barrier.
  void exchange() {
    line("mov.u32 %i1, tile");
    line("mad.lo.u32 %i0, %thread, 16, %i1");
    switch (below(3)) {
      case 0:
        line("st.shared.v2.u32 [%i0], {" + operand('R') + ", " + operand('R') + "}");
        break;
      case 1:
        line("st.shared.v4.f32 [%i0], {" + operand('F') + ", " + operand('F') + ", " +
             operand('F') + ", " + operand('F') + "}");
        break;
      default:
        line("cp.async.ca.shared.global [%i0], [%in+" + std::to_string(16 * below(8)) + "], " +
             choose("{4|8|16}"));
        line(chance(50) ? "cp.async.wait_all" : "cp.async.commit_group");
        line("cp.async.wait_group 0");
        line("cp.async.wait_all");
        break;
    }
    line(chance(70) ? "bar.sync 0" : "barrier.sync 1, " + std::to_string(threads_));
    line("add.u32 %i0, %thread, " + std::to_string(below(threads_)));
    line("rem.u32 %i0, %i0, " + std::to_string(threads_));
    line("mad.lo.u32 %i0, %i0, 16, %i1");
    constexpr const char* kLoads[] = {"ld.shared.u32 R", "ld.shared.s8 R", "ld.shared.u16 R",
                                      "ld.shared.f32 F"};
    std::string chosen = kLoads[below(4)];
    line(chosen.substr(0, chosen.size() - 1) + operand(chosen.back()) + ", [%i0]");
    line("bar.sync 0");
  }

  // Zeroed by one thread, added to by all, read by all.
  void shared_counter() {
    line("setp.eq.u32 %again, %thread, 0");
    line("@%again st.shared.u32 [counter], 0");
    line("bar.sync 0");
    line("and.b32 %i0, " + operand('R') + ", 1023");
    line(choose("red.shared.{add.u32|max.u32|or.b32} [counter], %i0"));
    line("bar.sync 0");
    line("ld.shared.u32 " + operand('R') + ", [counter]");
    line("bar.sync 0");
  }

  void block_vote() {
    if (chance(50))
      line("bar.red.popc.u32 " + operand('R') + ", 0, " + operand('q'));
    else
      line(choose("bar.red.{and|or}.pred ") + operand('P') + ", 0, " + operand('q'));
  }

  // A loop that all run equally often, with collectives inside.
  void uniform_loop() {
    std::string head = label();
    line("mov.u32 %uniform, 0");
    text_ += head + ":\n";
    together_ = false;  // no loop of this kind inside another
    for (int n = 0; n < 2; ++n) collective();
    statements(2, 1);
    together_ = true;
    line("add.u32 %uniform, %uniform, 1");
    line("setp.lt.u32 %again, %uniform, 3");
    line("@%again bra " + head);
  }

  void collective() {
    switch (below(together_ ? 6 : 5)) {
      case 0:
        return shuffle();
      case 1:
        return vote();
      case 2:
        return exchange();
      case 3:
        return shared_counter();
      case 4:
        return block_vote();
      default:
        return uniform_loop();
    }
  }

  void statements(uint32_t count, int depth) {
    for (uint32_t n = 0; n < count; ++n) statement(depth);
  }

  void statement(int depth) {
    if (left_ == 0) return compute();
    --left_;
    uint32_t kind = below(100);
    if (in_function_ || kind < 55) return compute();
    if (depth == 0 && kind < 68) return collective();
    if (depth < 3 && kind < 75) return branch(depth);
    if (depth < 3 && kind < 79) return loop(depth);
    if (options_.table_branches && depth < 2 && kind < 81) return table_branch(depth);
    if (kind < 85) return load_input();
    if (kind < 87) return load_constant();
    if (kind < 89) return local_memory();
    if (kind < 91) return unpack();
    if (kind < 92) return two_predicates();
    if (kind < 94) return count();
    if (kind < 95) return extreme();
    if (kind < 97) return own_atomic();
    return call();
  }

  void declare_registers() {
    line(".reg .b32 %r<" + std::to_string(kWords) +
         ">, %i<2>, %bound<4>, %round<4>, %thread, %uniform");
    line(".reg .b64 %d<" + std::to_string(kDoubles) +
         ">, %a<2>, %in, %out, %counters, %own, %junk");
    line(".reg .b16 %h<" + std::to_string(kHalves) + ">");
    line(".reg .f32 %f<" + std::to_string(kFloats) + ">");
    line(".reg .f64 %g<" + std::to_string(kReals) + ">");
    line(".reg .pred %p<" + std::to_string(kPredicates) + ">, %again");
  }

  void function(int number) {
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

  void kernel() {
    text_ += ".visible .entry k (.param .u64 in, .param .u64 out, .param .u64 counters)\n{\n";
    declare_registers();
    line(".shared .align 16 .b8 tile[" + std::to_string(16 * threads_) + "]");
    line(".shared .align 4 .b8 counter[4]");
    line(".local .align 16 .b8 array[32]");
    prologue();
    statements(left_, 0);
    if (chance(30)) branch(0);
    if (chance(20)) line("bar.sync 0");
    epilogue();
    if (chance(30)) line("@%p0 exit");
    store_results();
    line("ret");
    text_ += "}\n";
  }

  void prologue() {
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
  void epilogue() {
    for (int n = 0; n < kReals; ++n) {
      std::string g = "%g" + std::to_string(n);
      line("setp.nan.f64 %again, " + g + ", " + g);
      line("selp.f64 " + g + ", 0d7FF8000000000000, " + g + ", %again");
    }
  }

  void store_results() {
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

  GeneratorOptions options_;
  std::mt19937 random_;
  uint32_t left_;  // statements still to be written; when there are none, only arithmetic follows
  uint32_t threads_ = 0;
  std::string text_;
  int labels_ = 0;
  bool together_ = true;
  bool in_function_ = false;
};

}  // namespace

Program generate(uint32_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace oracle
