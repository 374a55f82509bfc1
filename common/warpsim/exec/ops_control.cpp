// Control flow.

#include "warpsim/exec/lanes.h"
#include "warpsim/exec/ops.h"
#include "warpsim/exec/worker.h"
#include "warpsim/observe/describe.h"

namespace warpsim::ops {

namespace {

const Op* give_up_turn(Warp& w, const Op* op) {
  return w.stop(op, WarpState::kReady);
}

// Where the lanes of a branch meet again: imm, relative; 0: only when they return.
const Op* meeting_point(const Op* op) {
  return op->imm == 0 ? nullptr : op + op->imm;
}

const Op* decide(Warp& w, const Op* op, uint32_t taken) {
  if (taken == w.mask) return op + op->jump;
  if (taken == 0) return op + 1;
  ++w.worker->divergent[op->aux];
  return w.diverge(taken, op + op->jump, op + 1, meeting_point(op));
}

const Op* run_guarded(Warp& w, const Op* op, uint32_t lanes) {
  const Op* end = op + 1 + op->imm;
  if (lanes == 0) return end;
  const uint32_t all = w.mask;
  w.mask = lanes;
  for (const Op* at = op + 1; at != end;) {
    at = at->masked(w, at);
    if (at == nullptr) return nullptr;
  }
  w.mask = all;
  return end;
}

}  // namespace

// aux: basic block. imm: its instructions. A join operation is always the first of a block.
const Op* enter(Warp& w, const Op* op) {
  if (op == w.join) return w.next_path();
  if ((w.quantum -= op->imm) < 0) return give_up_turn(w, op);
  w.instructions += uint64_t(op->imm);
  w.block_entries[2 * op->aux] += 1;
  w.block_entries[2 * op->aux + 1] += uint64_t(__builtin_popcount(w.mask));
  return op + 1;
}

const Op* enter_uncounted(Warp& w, const Op* op) {
  if (op == w.join) return w.next_path();
  if ((w.quantum -= op->imm) < 0) return give_up_turn(w, op);
  w.instructions += uint64_t(op->imm);
  return op + 1;
}

// a: predicate; imm: how many of the following operations it governs, none of them a control
// operation.
const Op* guard(Warp& w, const Op* op) {
  return run_guarded(w, op, w.mask & predicate(w, op->a));
}
const Op* guard_not(Warp& w, const Op* op) {
  return run_guarded(w, op, w.mask & ~predicate(w, op->a));
}

const Op* branch(Warp&, const Op* op) {
  return op + op->jump;
}
// a: predicate; jump: target; imm: meeting point; aux: branch number.
const Op* branch_if(Warp& w, const Op* op) {
  return decide(w, op, w.mask & predicate(w, op->a));
}
const Op* branch_if_not(Warp& w, const Op* op) {
  return decide(w, op, w.mask & ~predicate(w, op->a));
}

// a: index row; imm: meeting point; aux: branch number; b: number of targets. Each target is the
// `jump` of one of the following operations, relative to it. An index past the end stays with the
// last, as nothing sensible is defined.
const Op* branch_table(Warp& w, const Op* op) {
  const uint32_t* index = row<uint32_t>(w, op->a);
  auto entry = [&](uint32_t lane) { return index[lane] < op->b ? index[lane] : op->b - 1; };
  const uint32_t first = entry(uint32_t(__builtin_ctz(w.mask)));
  uint32_t same = 0;
  for_each_lane(w.mask,
                [&](int lane) { same |= uint32_t(entry(uint32_t(lane)) == first) << lane; });
  const Op* target = op + 1 + first + op[1 + first].jump;
  if (same == w.mask) return target;
  ++w.worker->divergent[op->aux];
  // The others execute this operation again.
  return w.diverge(same, target, op, meeting_point(op));
}

// aux: call site.
const Op* call(Warp& w, const Op* op) {
  const CallSite& site = w.worker->image->calls[op->aux];
  const Program& callee = w.worker->image->programs[size_t(site.callee)];
  const Op* next = w.call(site, callee, op + 1);
  if (next != nullptr) return next;
  w.worker->halt(LaunchStatus::kFault, 719,
                 "the calls of device functions are nested too deeply: a recursion without end?");
  return w.stop(op, WarpState::kFinished);
}

const Op* ret(Warp& w, const Op*) {
  return w.leave(false);
}
const Op* exit(Warp& w, const Op*) {
  return w.leave(true);
}

const Op* trap(Warp& w, const Op* op) {
  const uint32_t function = op->aux;
  Diagnostic* d = w.worker->reporter.add(Fault::kTrap, w, uint32_t(__builtin_ctz(w.mask)), function,
                                         op->instruction);
  if (d != nullptr) d->message = "the kernel executed a trap";
  w.worker->halt(LaunchStatus::kFault, 719, "the kernel executed a trap");
  return w.stop(op, WarpState::kFinished);
}

const Op* unsupported(Warp& w, const Op* op) {
  const ptx::Instruction& code = w.worker->image->instruction(op->aux, op->instruction);
  const std::string what = "the instruction " + code.mnemonic + " is not modelled";
  const std::string place = code.where.line != 0
                                ? " (line " + std::to_string(code.where.line) + ")"
                                : " (PTX line " + std::to_string(code.ptx_line) + ")";
  Diagnostic* d = w.worker->reporter.add(Fault::kUnsupported, w, uint32_t(__builtin_ctz(w.mask)),
                                         op->aux, op->instruction);
  if (d != nullptr) d->message = what;
  w.worker->halt(LaunchStatus::kUnsupported, 0, what + place);
  return w.stop(op, WarpState::kFinished);
}

// aux: index into Image::guarded_fma.
const Op* count_fma(Warp& w, const Op* op) {
  w.worker->guarded_fma_lanes[op->aux] += uint64_t(__builtin_popcount(w.mask));
  return op + 1;
}

const Op* nothing(Warp&, const Op* op) {
  return op + 1;
}

// Time is the number of instructions the warp has executed, times four: deterministic.
constexpr uint64_t kClocksPerInstruction = 4;
const Op* clock32(Warp& w, const Op* op) {
  w.instructions += 1;
  for_each_lane(w.mask, [&](int i) {
    row<uint32_t>(w, op->d)[i] = uint32_t(w.instructions * kClocksPerInstruction >> op->imm);
  });
  return op + 1;
}
const Op* clock64(Warp& w, const Op* op) {
  w.instructions += 1;
  for_each_lane(
      w.mask, [&](int i) { row<uint64_t>(w, op->d)[i] = w.instructions * kClocksPerInstruction; });
  return op + 1;
}

}  // namespace warpsim::ops
