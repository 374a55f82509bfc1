// What all threads of a block do together.

#include <algorithm>

#include "tests/oracle/generator.h"

namespace oracle {

// Statements that all threads of the block run together.
void Generator::shuffle() {
  std::string mode = choose("{up|down|bfly|idx}"), lane = std::to_string(below(34));
  std::string clamp = mode == "up" ? choose("{0|6144|7168}")
                                   : choose("{31|6175|7199}");  // whole warp, segments of 8 or 4
  std::string b = mode == "idx" && chance(50) ? operand('R') : lane;
  std::string source = operand('R');
  line("shfl.sync." + mode + ".b32 " + operand('R') +
       (chance(60) ? "|" + name("%p", kPredicates) : "") + ", " + source + ", " + b + ", " + clamp +
       ", -1");
}

void Generator::vote() {
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
void Generator::exchange() {
  line("mov.u32 %i1, tile");
  line("mad.lo.u32 %i0, %thread, 16, %i1");
  switch (below(3)) {
    case 0:
      line("st.shared.v2.u32 [%i0], {" + operand('R') + ", " + operand('R') + "}");
      break;
    case 1:
      line("st.shared.v4.f32 [%i0], {" + operand('F') + ", " + operand('F') + ", " + operand('F') +
           ", " + operand('F') + "}");
      break;
    default:
      line("cp.async.ca.shared.global [%i0], [%in+" + std::to_string(16 * below(8)) + "], " +
           choose("{4|8|16}"));
      line(chance(50) ? "cp.async.wait_all" : "cp.async.commit_group");
      line("cp.async.wait_group 0");
      line("cp.async.wait_all");
      break;
  }
  line(chance(70) || !whole_warps_ ? "bar.sync 0" : "barrier.sync 1, " + std::to_string(threads_));
  line("add.u32 %i0, %thread, " + std::to_string(below(threads_)));
  line("rem.u32 %i0, %i0, " + std::to_string(threads_));
  line("mad.lo.u32 %i0, %i0, 16, %i1");
  constexpr const char* kLoads[] = {"ld.shared.u32 R", "ld.shared.s8 R", "ld.shared.u16 R",
                                    "ld.shared.f32 F"};
  std::string chosen = kLoads[below(4)];
  std::string address = "[%i0]";
  if (chance(25)) {  // by the generic address
    chosen.erase(2, 7);
    line("cvt.u64.u32 %a0, %i0"), line("cvta.shared.u64 %a0, %a0");
    address = "[%a0]";
  }
  line(chosen.substr(0, chosen.size() - 1) + operand(chosen.back()) + ", " + address);
  line("bar.sync 0");
}

// Zeroed by one thread, added to by all, read by all.
void Generator::shared_counter() {
  line("setp.eq.u32 %again, %thread, 0");
  line("@%again st.shared.u32 [counter], 0");
  line("bar.sync 0");
  line("and.b32 %i0, " + operand('R') + ", 1023");
  line(choose("red.shared.{add.u32|max.u32|or.b32} [counter], %i0"));
  line("bar.sync 0");
  line("ld.shared.u32 " + operand('R') + ", [counter]");
  line("bar.sync 0");
}

void Generator::block_vote() {
  if (chance(50))
    line("bar.red.popc.u32 " + operand('R') + ", 0, " + operand('q'));
  else
    line(choose("bar.red.{and|or}.pred ") + operand('P') + ", 0, " + operand('q'));
}

// Lanes for which a predicate holds exchange values among themselves, with their own mask.
void Generator::masked() {
  std::string join = label(), p = operand('p');
  line("vote.sync.ballot.b32 %i0, " + p + ", -1");
  line("@!" + p + " bra " + join);
  switch (below(5)) {
    case 0:
      line("vote.sync.ballot.b32 " + operand('R') + ", " + operand('q') + ", %i0");
      break;
    case 1:
      line(choose("vote.sync.{all|any|uni}.pred ") + operand('P') + ", " + operand('q') + ", %i0");
      break;
    case 2:
      line(choose("redux.sync.{add|min|max}.s32 ") + operand('R') + ", " + operand('R') + ", %i0");
      break;
    case 3:
      line("match.any.sync.b32 " + operand('R') + ", " + operand('R') + ", %i0");
      break;
    default:  // from the highest lane of the mask
      line("bfind.u32 %i1, %i0");
      line("shfl.sync.idx.b32 " + operand('R') + ", " + operand('R') + ", %i1, 31, %i0");
      break;
  }
  if (chance(50)) line("bar.warp.sync %i0");
  compute();
  text_ += join + ":\n";
}

// The upper threads store their results and return; the others meet at barriers afterwards.
void Generator::early_return() {
  std::string stay = label();
  line("setp.lt.u32 %again, %thread, " + std::to_string(1 + below(threads_)));
  line("@%again bra " + stay);
  compute();
  if (chance(50)) epilogue(), store_results();
  line("ret");
  text_ += stay + ":\n";
  for (int n = 0; n < 2; ++n) {
    compute();
    if (chance(50))
      shared_counter();
    else
      block_vote();
  }
}

// A loop that all run equally often, with collectives inside.
void Generator::uniform_loop() {
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

void Generator::collective() {
  switch (below(together_ ? 8 : 7)) {
    case 0:
      return whole_warps_ ? shuffle() : vote();
    case 1:
      return vote();
    case 2:
      return exchange();
    case 3:
      return shared_counter();
    case 4:
      return block_vote();
    case 5:
      return masked();
    case 6:
      return tiles();
    default:
      return uniform_loop();
  }
}

}  // namespace oracle
