#include "warpsim/jit/program_code.h"

#include <cstddef>

namespace warpsim::jit {

namespace {

using A = Action;
using Xbyak::Reg64;

const Op* give_up_turn(Warp* w, const Op* op) {
  return w->stop(op, WarpState::kReady);
}

}  // namespace

void ProgramCode::emit() {
  using namespace Xbyak::util;
  // uintptr_t enter(Warp* rdi, void** rsi, const void* entry rdx)
  for (const Reg64& r : {rbx, rbp, r12, r13, r14, r15}) code_.push(r);
  code_.sub(rsp, 8);
  code_.mov(code_.warp, rdi);
  code_.mov(code_.memos, rsi);
  code_.mov(code_.frame, code_.ptr[rdi + offsetof(Warp, regs)]);
  code_.jmp(rdx);
  code_.L(leave_);
  code_.vzeroupper();
  code_.add(rsp, 8);
  for (const Reg64& r : {r15, r14, r13, r12, rbp, rbx}) code_.pop(r);
  code_.ret();
  forget();
  bool reachable = false;  // the code goes on from the operation before
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    const Action action = meaning_of(program_.ops[i]).action;
    const bool after_barrier = i > 0 && meaning_of(program_.ops[i - 1]).action == A::kBarrier;
    if (action == A::kEnter || (after_barrier && reachable)) {
      if (reachable && i > 0) write_back_after(i - 1);
      forget();
      code_.L(labels_[i]);
      has_entry_[i] = true;
      reachable = true;
    }
    if (!reachable) continue;
    emit_op(i);
    code_.release();
    drop_dead(i);
    if (action == A::kBranch || action == A::kReturn || action == A::kExit ||
        action == A::kBranchTable) {
      reachable = false;
    }
    if (action == A::kGuard) i += program_.ops[i].guard.operations;
  }
  for (ColdPath& turn : turns_over_) {
    code_.L(turn.label);
    code_.mov(rdi, code_.warp);
    code_.mov(rsi, reinterpret_cast<uint64_t>(&program_.ops[turn.op]));
    code_.mov(rax, reinterpret_cast<uint64_t>(&give_up_turn));
    code_.call(rax);
    code_.jmp(leave_, Xbyak::CodeGenerator::T_NEAR);
  }
  for (SlowWindow& slow : slow_windows_) emit_slow(slow);
  for (ColdPath& join : joins_) {
    code_.L(join.label);
    return_op(join.op, true);
  }
}

std::vector<const void*> ProgramCode::entries() {
  std::vector<const void*> result(program_.ops.size(), nullptr);
  for (size_t i = 0; i < result.size(); ++i) {
    if (has_entry_[i]) result[i] = labels_[i].getAddress();
  }
  return result;
}

void ProgramCode::emit_op(size_t i) {
  const Op& op = program_.ops[i];
  const Meaning& m = meaning_of(op);
  code_.at = i;
  if (windows_.starting[i] >= 0) emit_window(i, windows_.list[size_t(windows_.starting[i])]);
  if (settled_.cleared[i] != 0)
    code_.and_(code_.dword[code_.memos + 8 * kSettledInMemos], ~settled_.cleared[i]);
  switch (m.action) {
    case A::kEnter:
      return emit_enter(i);
    case A::kBarrier:
      return emit_barrier(i);
    case A::kBranch:
      return emit_branch(i);
    case A::kBranchIf:
    case A::kBranchIfNot:
      return emit_branch_if(i);
    case A::kLoad:
      if (windows_.of_access[i] >= 0)
        return moves_.load(op, windows_.list[size_t(windows_.of_access[i])]);
      return emit_handler(i);
    case A::kStore:
      if (windows_.of_access[i] >= 0)
        return moves_.store(op, windows_.list[size_t(windows_.of_access[i])]);
      return emit_handler(i);
    case A::kLoadParam:
      return emit_load_param(i);
    case A::kAddress:
      if (windows_.finds_address[i]) return;
      return emit_handler(i);
    default:
      break;
  }
  const bool is_between_lanes = m.action == A::kShuffle || m.action == A::kVote;
  if (is_between_lanes && emit_between_lanes(code_, op, m, constants_, source_lanes_)) return;
  const bool addend_dies = op.d != op.c && !live_.live_after(i, op.c);
  if (emit_lanes(code_, op, m, constants_, addend_dies)) return;
  emit_handler(i);
}

void ProgramCode::drop_dead(size_t i) {
  const Op& op = program_.ops[i];
  const RowUse use = row_use(image_, op, meaning_of(op));
  for (const auto* list : {&use.reads, &use.writes}) {
    for (const RowUse::Row& row : *list) {
      if (!live_.live_after(i, row.offset)) code_.drop(row.offset, row.wide);
    }
  }
}

void ProgramCode::forget() {
  code_.forget();
  moves_.forget();
}

void ProgramCode::call(const void* function) {
  using namespace Xbyak::util;
  code_.vzeroupper();
  code_.mov(rax, reinterpret_cast<uint64_t>(function));
  code_.call(rax);
  forget();
}

// Back to the interpreter, to go on with operation `i`.
void ProgramCode::return_op(size_t i, bool by_handler) {
  using namespace Xbyak::util;
  code_.mov(rax, reinterpret_cast<uint64_t>(&program_.ops[i]) | uint64_t(by_handler));
  code_.jmp(leave_, Xbyak::CodeGenerator::T_NEAR);
}

// The operation's own handler does it; the frame is up to date before it, and looked at anew after
// it.
void ProgramCode::emit_handler(size_t i) {
  using namespace Xbyak::util;
  const Op& op = program_.ops[i];
  write_back_before(i);
  code_.mov(rdi, code_.warp);
  code_.mov(rsi, reinterpret_cast<uint64_t>(&op));
  call(reinterpret_cast<const void*>(op.full));
  const Action action = meaning_of(op).action;
  if (action == A::kReturn || action == A::kExit || action == A::kBranchTable) {
    code_.jmp(leave_, Xbyak::CodeGenerator::T_NEAR);
    return;
  }
  const size_t next = i + 1 + (action == A::kGuard ? op.guard.operations : 0);
  code_.mov(rcx, reinterpret_cast<uint64_t>(program_.ops.data() + next));
  code_.cmp(rax, rcx);
  code_.jne(leave_, Xbyak::CodeGenerator::T_NEAR);
}

}  // namespace warpsim::jit
