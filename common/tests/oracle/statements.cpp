// What a thread may do alone.

#include <algorithm>

#include "tests/oracle/generator.h"

namespace oracle {

// Statements that any thread may run alone.
void Generator::load_input() {
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
std::string Generator::distinct(char letter, std::vector<std::string>* used) {
  for (;;) {
    std::string candidate = operand(letter);
    if (std::find(used->begin(), used->end(), candidate) != used->end()) continue;
    used->push_back(candidate);
    return candidate;
  }
}

void Generator::load_constant() {
  line("and.b32 %i0, " + name("%r", kWords) + ", 60");
  line("cvt.u64.u32 %a0, %i0");
  line("mov.u64 %a1, table");
  line("add.u64 %a0, %a0, %a1");
  line("ld.const.u32 " + operand('R') + ", [%a0]");
}

void Generator::local_memory() {
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

void Generator::unpack() {
  if (chance(50))
    line("mov.b64 {%r0, %r1}, " + operand('D'));
  else
    line("mov.b32 {%h0, %h1}, " + operand('R'));
}

// 128 bits in two halves.
void Generator::carry() {
  std::string low = operand('D'), high = operand('D');
  if (chance(50)) {
    std::string op = choose("{add|sub}");
    line(op + ".cc.u64 " + low + ", " + operand('D') + ", " + operand('D'));
    line(op + "c.u64 " + high + ", " + operand('D') + ", " + operand('D'));
  } else {
    line("add.cc.u32 " + operand('R') + ", " + operand('R') + ", " + operand('r'));
    line("addc.cc.u32 " + operand('R') + ", " + operand('R') + ", " + operand('r'));
    line("madc.hi.u32 " + operand('R') + ", " + operand('R') + ", " + operand('R') + ", 0");
  }
}

void Generator::two_predicates() {
  line(choose("setp.{lt|eq}.{and|or}.s32 %p0|%p1, ") + operand('r') + ", " + operand('R') + ", " +
       operand('q'));
}

// The order in which threads come changes nothing: nobody reads the old value.
void Generator::count() {
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

void Generator::extreme() {
  if (chance(50))
    line("red.global.max.s32 [%counters+" + std::to_string(128 + 16 * below(4)) + "], " +
         operand('R'));
  else
    line("red.global.or.b32 [%counters+" + std::to_string(192 + 16 * below(4)) + "], " +
         operand('R'));
}

// On a word of this thread alone the old value is defined too.
void Generator::own_atomic() {
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

void Generator::branch(int depth) {
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
void Generator::loop(int depth) {
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

void Generator::table_branch(int depth) {
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

void Generator::call() {
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

}  // namespace oracle
