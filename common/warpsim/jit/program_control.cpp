// How compiled code goes from basic block to basic block.

#include <cstddef>

#include "warpsim/exec/ops.h"
#include "warpsim/jit/program_code.h"

namespace warpsim::jit {

namespace {

using A = Action;

}  // namespace

// A full warp is at no meeting point of its lanes; should it be, the handler knows what to do.
void ProgramCode::emit_enter(size_t i) {
  using namespace Xbyak::util;
  const Op& op = program_.ops[i];
  const auto count = op.enter.instructions;
  turns_over_.push_back({{}, i});
  joins_.push_back({{}, i});
  code_.cmp(code_.qword[code_.warp + offsetof(Warp, join)], 0);
  code_.jne(joins_.back().label, Xbyak::CodeGenerator::T_NEAR);
  code_.sub(code_.qword[code_.warp + offsetof(Warp, quantum)], count);
  code_.js(turns_over_.back().label, Xbyak::CodeGenerator::T_NEAR);
  code_.add(code_.qword[code_.warp + offsetof(Warp, instructions)], count);
  if (op.enter.multiply_adds != 0)
    code_.add(code_.qword[code_.warp + offsetof(Warp, multiply_adds)], op.enter.multiply_adds);
  if (op.enter.products != 0)
    code_.add(code_.qword[code_.warp + offsetof(Warp, products)], op.enter.products);
  if (op.full == &ops::enter_uncounted) return;
  code_.mov(rax, code_.ptr[code_.warp + offsetof(Warp, block_entries)]);
  code_.add(code_.qword[rax + 16 * op.enter.block], 1);
  code_.add(code_.qword[rax + 16 * op.enter.block + 8], kLanes);
}

void ProgramCode::emit_load_param(size_t i) {
  const Op& op = program_.ops[i];
  const bool wide = op.param.bytes == 8;
  if ((!wide && op.param.bytes != 4) || op.param.offset != int64_t{int32_t(op.param.offset)})
    return emit_handler(i);
  code_.mov(code_.rax, code_.ptr[code_.memos + 8 * kParamsInMemos]);
  for (int v = 0; v < (wide ? 2 : 1) * code_.vectors; ++v) {
    const Xbyak::Xmm d = code_.vec(code_.define(op.d, v));
    if (wide)
      code_.vpbroadcastq(d, code_.qword[code_.rax + int(op.param.offset)]);
    else
      code_.vpbroadcastd(d, code_.dword[code_.rax + int(op.param.offset)]);
    code_.release();
  }
}

// An operation that has code goes on there; another one is the interpreter's.
void ProgramCode::jump_to(size_t target) {
  if (meaning_of(program_.ops[target]).action == A::kEnter)
    code_.jmp(labels_[target], Xbyak::CodeGenerator::T_NEAR);
  else
    return_op(target, false);
}

void ProgramCode::emit_branch(size_t i) {
  const auto target = size_t(int64_t(i) + program_.ops[i].branch.target);
  write_back_after(i);
  jump_to(target);
}

// All lanes one way: here. Else the handler parts them.
void ProgramCode::emit_branch_if(size_t i) {
  using namespace Xbyak::util;
  const Op& op = program_.ops[i];
  const bool is_negated = meaning_of(op).action == A::kBranchIfNot;
  const auto target = size_t(int64_t(i) + op.branch.target);
  Xbyak::Label not_all, none;
  write_back_after(i);
  code_.mov(eax, code_.dword[code_.frame + op.a]);
  if (is_negated) code_.not_(eax);
  code_.cmp(eax, -1);
  if (meaning_of(program_.ops[target]).action == A::kEnter) {
    code_.je(labels_[target], Xbyak::CodeGenerator::T_NEAR);
  } else {
    code_.jne(not_all);
    return_op(target, false);
    code_.L(not_all);
  }
  code_.test(eax, eax);
  code_.je(none, Xbyak::CodeGenerator::T_NEAR);
  code_.mov(rdi, code_.warp);
  code_.mov(rsi, reinterpret_cast<uint64_t>(&op));
  code_.vzeroupper();
  code_.mov(rax, reinterpret_cast<uint64_t>(op.full));
  code_.call(rax);
  code_.jmp(leave_, Xbyak::CodeGenerator::T_NEAR);
  code_.L(none);
}

}  // namespace warpsim::jit
