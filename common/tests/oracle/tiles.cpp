// Tiles in shared memory, as products of matrices have them: addresses that are linear in the
// thread and in the round, many loads between two barriers. What compiled code settles at once.

#include "tests/oracle/generator.h"

namespace oracle {

// Which word of the tile a thread begins to read at, below twice the number of threads.
void Generator::tile_address(const std::string& to) {
  switch (below(8)) {
    case 0:
      line("mov.b32 " + to + ", %thread");
      break;
    case 1:
      line("and.b32 " + to + ", %thread, 15");
      break;
    case 2:
      line("shr.u32 " + to + ", %thread, 4");
      break;
    case 3:
      line("shr.u32 " + to + ", %thread, 1");
      break;
    case 4:
      line("mov.b32 " + to + ", 0");
      break;
    case 5:
      line("shl.b32 " + to + ", %thread, 1");
      break;
    case 6:
      line("xor.b32 " + to + ", %thread, 1");
      break;
    default:
      line("mul.lo.u32 " + to + ", %thread, 5");
      line("and.b32 " + to + ", " + to + ", 31");
      break;
  }
  line("mad.lo.u32 " + to + ", " + to + ", 4, %t4");
}

// Four registers that a vector may be loaded to, or stored from.
std::string Generator::four_floats() {
  std::vector<std::string> used;
  std::string text = "{";
  for (int n = 0; n < 4; ++n) text += (n == 0 ? "" : ", ") + distinct('F', &used);
  return text + "}";
}

// Every word of the tile is written, four by a thread.
void Generator::fill_tile(bool by_fours) {
  auto word = [&](int n) {
    return std::to_string(by_fours ? 4 * n : 4 * n * static_cast<int>(threads_));
  };
  if (chance(25)) {
    if (by_fours && chance(50)) {
      line("cp.async.cg.shared.global [%t0], [%tg], 16");
    } else {
      for (int n = 0; n < 4; ++n) line("cp.async.ca.shared.global [%t0+" + word(n) + "], [%tg], 4");
    }
    line("cp.async.commit_group"), line("cp.async.wait_group 0");
    return;
  }
  if (chance(50)) line("ld.global.f32 " + operand('F') + ", [%tg+" + choose("{0|16|64|256}") + "]");
  if (by_fours && chance(30)) line("ld.global.nc.v4.f32 " + four_floats() + ", [%tg]");
  if (by_fours && chance(60)) {
    line("st.shared.v4.f32 [%t0], " + four_floats());
  } else {
    for (int n = 0; n < 4; ++n) line("st.shared.f32 [%t0+" + word(n) + "], " + name("%f", kFloats));
  }
}

void Generator::read_tile() {
  const uint32_t steps = 1 + below(8);
  const bool by_fours = chance(30);
  for (uint32_t k = 0; k < steps; ++k) {
    line("ld.shared.f32 " + operand('F') + ", [%t1+" + std::to_string(4 * k) + "]");
    if (by_fours)
      line("ld.shared.v4.f32 " + four_floats() + ", [%t3+" + std::to_string(16 * k) + "]");
    else
      line("ld.shared.f32 " + operand('F') + ", [%t2+" + std::to_string(8 * k) + "]");
    for (int n = 0; n < 2; ++n)
      line("fma.rn.f32 " + operand('F') + ", " + operand('F') + ", " + operand('F') + ", " +
           operand('F'));
  }
}

void Generator::tiles() {
  std::string head = label();
  const bool by_fours = chance(50);
  line("mov.u32 %t4, tile");
  line("mad.lo.u32 %t0, %thread, " + std::string(by_fours ? "16" : "4") + ", %t4");
  tile_address("%t1"), tile_address("%t2");
  line("and.b32 %t3, %thread, " + choose("{0|3|7}"));
  line("mad.lo.u32 %t3, %t3, 16, %t4");
  line(choose("{and.b32 %t5, %thread, 63|shr.u32 %t5, %thread, 3|and.b32 %t5, %thread, 15}"));
  line("mad.wide.u32 %tg, %t5, " + std::string(by_fours ? "16" : "4") + ", %in");
  line("mov.u32 %t5, 0");
  text_ += head + ":\n";
  fill_tile(by_fours);
  line("bar.sync 0");
  read_tile();
  if (chance(30)) statements(1, 2);
  if (chance(30)) {
    line("add.u32 %t1, %t1, 4");
  } else if (chance(40)) {  // now and then, apart from where it is read
    const std::string past = label();
    line("setp.eq.u32 %again, %t5, " + std::to_string(below(2)));
    line("@%again bra " + past);
    line("add.u32 %t1, %t1, 4");
    text_ += past + ":\n";
  }
  line("bar.sync 0");
  line("add.u64 %tg, %tg, " + choose("{64|128}"));
  line("add.u32 %t5, %t5, 1");
  line("setp.lt.u32 %again, %t5, " + std::to_string(2 + below(4)));
  line("@%again bra " + head);
}

}  // namespace oracle
