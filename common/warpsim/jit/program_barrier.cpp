// Barriers of the whole block, and the change from warp to warp there.

#include <cstddef>

#include "warpsim/exec/block.h"
#include "warpsim/jit/program_code.h"
#include "warpsim/machine/block.h"

namespace warpsim::jit {

// What ops::barrier_sync does where the warp is not the last one to arrive and nothing is to be
// reported; for the last one meet() does it.
void ProgramCode::emit_barrier(size_t i) {
  using namespace Xbyak::util;
  const Op& op = program_.ops[i];
  const auto id = constants_.find(op.a);
  if (op.b != 0 || op.barrier.mode != ptx::BarMode::kSync || id == constants_.end() ||
      id->second >= 16)
    return emit_handler(i);
  const auto barrier = int(offsetof(Block, barriers) + id->second * sizeof(Barrier));
  Xbyak::Label is_known, last, other;
  write_back_before(i);
  code_.mov(r8, code_.ptr[code_.warp + offsetof(Warp, block)]);
  code_.mov(rcx, reinterpret_cast<uint64_t>(&op));
  code_.mov(eax, code_.dword[r8 + (barrier + int(offsetof(Barrier, arrived_warps)))]);
  code_.inc(eax);
  code_.cmp(eax, code_.dword[r8 + offsetof(Block, live_warps)]);
  code_.jae(last, Xbyak::CodeGenerator::T_NEAR);
  code_.cmp(code_.dword[r8 + (barrier + int(offsetof(Barrier, expected_threads)))], 0);
  code_.jne(other, Xbyak::CodeGenerator::T_NEAR);
  code_.mov(rdx, code_.ptr[r8 + (barrier + int(offsetof(Barrier, first_waiting)))]);
  code_.mov(rsi, code_.warp);
  code_.test(rdx, rdx);
  code_.cmovnz(rsi, rdx);
  code_.jz(is_known);
  if (checks_.barriers) {
    code_.cmp(code_.ptr[rdx + offsetof(Warp, barrier_op)], rcx);
    code_.jne(other, Xbyak::CodeGenerator::T_NEAR);
  }
  code_.L(is_known);
  code_.mov(code_.ptr[r8 + (barrier + int(offsetof(Barrier, first_waiting)))], rsi);
  code_.mov(code_.dword[r8 + (barrier + int(offsetof(Barrier, arrived_warps)))], eax);
  code_.add(code_.dword[r8 + (barrier + int(offsetof(Barrier, arrived_threads)))], kLanes);
  code_.mov(eax, code_.dword[r8 + (barrier + int(offsetof(Barrier, warps)))]);
  code_.mov(edx, code_.dword[code_.warp + offsetof(Warp, index)]);
  code_.bts(eax, edx);
  code_.mov(code_.dword[r8 + (barrier + int(offsetof(Barrier, warps)))], eax);
  code_.mov(rax, code_.ptr[code_.memos + 8 * kArrivalsInMemos]);
  code_.inc(code_.qword[rax + 8 * op.barrier.number]);
  code_.mov(code_.dword[code_.warp + offsetof(Warp, barrier_id)], uint32_t(id->second));
  code_.mov(code_.ptr[code_.warp + offsetof(Warp, barrier_op)], rcx);
  code_.mov(code_.byte[code_.warp + offsetof(Warp, state)], uint32_t(WarpState::kAtBarrier));
  code_.add(rcx, sizeof(Op));
  code_.mov(code_.ptr[code_.warp + offsetof(Warp, resume)], rcx);
  code_.mov(code_.ptr[code_.warp + offsetof(Warp, compiled_at)], rcx);
  code_.lea(rax, code_.ptr[rip + labels_[i + 1]]);
  code_.mov(code_.ptr[code_.warp + offsetof(Warp, compiled_entry)], rax);
  emit_next_warp();
  code_.L(last);
  code_.mov(rdi, code_.warp);
  code_.mov(rsi, rcx);
  code_.mov(edx, uint32_t(id->second));
  code_.vzeroupper();
  code_.mov(rax, reinterpret_cast<uint64_t>(&meet));
  code_.call(rax);
  code_.test(al, al);
  code_.jnz(labels_[i + 1], Xbyak::CodeGenerator::T_NEAR);
  code_.L(other);
  emit_handler(i);
}

// The running warp is parked: what run_turn in exec/block.cpp does after a turn and before the
// next, where that is all there is to do, and the next warp goes on from a barrier as well.
void ProgramCode::emit_next_warp() {
  using namespace Xbyak::util;
  constexpr auto kNear = Xbyak::CodeGenerator::T_NEAR;
  code_.xor_(eax, eax);
  code_.mov(rdi, code_.ptr[code_.memos + 8 * kNextWarpInMemos]);
  code_.test(rdi, rdi);
  code_.jz(leave_, kNear);
  code_.cmp(code_.byte[rdi + offsetof(Warp, state)], uint32_t(WarpState::kReady));
  code_.jne(leave_, kNear);
  code_.cmp(code_.dword[rdi + offsetof(Warp, mask)], -1);
  code_.jne(leave_, kNear);
  code_.mov(rcx, code_.ptr[rdi + offsetof(Warp, resume)]);
  code_.cmp(rcx, code_.ptr[rdi + offsetof(Warp, compiled_at)]);
  code_.jne(leave_, kNear);
  code_.mov(rcx, kQuantum);
  code_.sub(rcx, code_.ptr[code_.warp + offsetof(Warp, quantum)]);
  code_.mov(rdx, code_.ptr[code_.memos + 8 * kUsedInMemos]);
  code_.add(rcx, code_.ptr[rdx]);
  code_.mov(rsi, code_.ptr[code_.memos + 8 * kCarefreeInMemos]);
  code_.cmp(rcx, code_.ptr[rsi]);
  code_.jae(leave_, kNear);
  code_.mov(code_.ptr[rdx], rcx);
  code_.mov(rdx, code_.ptr[code_.memos + 8 * kRunningInMemos]);
  code_.mov(code_.ptr[rdx], rdi);
  code_.mov(code_.qword[rdi + offsetof(Warp, quantum)], uint32_t(kQuantum));
  code_.mov(code_.byte[rdi + offsetof(Warp, has_waited)], 0);
  code_.mov(rax, code_.ptr[code_.memos + 8 * kRoundInMemos]);
  code_.mov(code_.byte[rax], 1);
  code_.mov(code_.memos, code_.ptr[code_.memos + 8 * kNextMemosInMemos]);
  code_.mov(code_.warp, rdi);
  code_.mov(code_.frame, code_.ptr[rdi + offsetof(Warp, regs)]);
  code_.jmp(code_.ptr[rdi + offsetof(Warp, compiled_entry)]);
}

}  // namespace warpsim::jit
