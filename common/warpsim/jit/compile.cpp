// From a decoded function to machine code, basic block by basic block.
//
// Within a block rows stay in machine registers; at its ends, and wherever C++ is called, what is
// still wanted is written back to the frame. So the frame is as the interpreter would have left it
// wherever it may take over: at a block's end, after a handler that did not go on with the next
// operation, and before a window whose checks did not all pass.
//
// rbx: warp, r12: its frame, r13: the running window's memo, r15: the warp's memos. rax, rcx, rdx,
// r11: for a moment. The others: addresses of the running window's data.

#include <xbyak/xbyak_util.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <string_view>

#include "warpsim/exec/block.h"
#include "warpsim/exec/ops.h"
#include "warpsim/jit/assembler.h"
#include "warpsim/jit/between_lanes.h"
#include "warpsim/jit/code.h"
#include "warpsim/jit/gate.h"
#include "warpsim/jit/lanes.h"
#include "warpsim/jit/liveness.h"
#include "warpsim/jit/moves.h"
#include "warpsim/jit/planted.h"
#include "warpsim/jit/settled.h"
#include "warpsim/jit/state.h"
#include "warpsim/jit/vectors.h"
#include "warpsim/machine/block.h"

namespace warpsim::jit {

namespace {

using A = Action;
using Xbyak::Reg64;

bool has_avx512() {
  static const bool has = [] {
    using C = Xbyak::util::Cpu;
    const C cpu;
    return cpu.has(C::tAVX512F) && cpu.has(C::tAVX512DQ) && cpu.has(C::tAVX512BW) &&
           cpu.has(C::tAVX512VL);
  }();
  static const bool wanted = [] {
    const char* bits = std::getenv("WARPSIM_VECTORS");
    return bits == nullptr || std::string_view(bits) != "256";
  }();
  return has && wanted && !only_narrow_vectors;
}

// What the code calls. They are ordinary functions, so that it needs nothing but their addresses.
Memo* enter_window(Warp* w, const Window* window) {
  return State::enter_window(*w, *window);
}
bool renew_memo(Warp* w, const Window* window, Memo* memo) {
  return State::renew(*w, *window, *memo);
}
const Op* give_up_turn(Warp* w, const Op* op) {
  return w->stop(op, WarpState::kReady);
}

class ProgramCode {
 public:
  ProgramCode(const Image& image, const Program& program, bool is_kernel, const Checks& checks,
              const CompiledProgram& result)
      : image_(image),
        checks_(checks),
        program_(program),
        windows_(result.windows),
        uniform_(image, program),
        settled_(find_settled(image, program, result.windows, uniform_, is_kernel)),
        live_(image, program, is_kernel),
        code_(has_avx512()),
        moves_(code_, image),
        labels_(program.ops.size()),
        has_entry_(program.ops.size(), false) {
    if (is_kernel) code_.uniform = &uniform_;
    for (const Program::Constant& c : program.constants) constants_[c.row] = c.bits;
  }

  void emit();
  std::vector<const void*> entries();
  void finish() { code_.ready(Xbyak::CodeGenerator::PROTECT_RE); }
  size_t bytes() const { return code_.getSize(); }
  const void* start() const { return code_.getCode(); }

 private:
  size_t index_of(const Op& op) const { return size_t(&op - program_.ops.data()); }
  void emit_op(size_t i);
  void emit_enter(size_t i);
  void emit_handler(size_t i);
  bool emit_doubles(size_t i);
  struct SlowWindow;
  void emit_window(size_t i, const Window& window);
  void call_enter_window(size_t i, const Window& window);
  void emit_slow(SlowWindow& slow);
  void emit_barrier(size_t i);
  void emit_next_warp();
  void emit_load_param(size_t i);
  void emit_branch(size_t i);
  void emit_branch_if(size_t i);
  void jump_to(size_t target);
  void write_back_before(size_t i) {
    code_.write_back([&](uint32_t row) { return live_.live_before(i, row); });
  }
  void write_back_after(size_t i) {
    if (planted == Planted::kDrops) return;
    code_.write_back([&](uint32_t row) { return live_.live_after(i, row); });
  }
  void drop_dead(size_t i);
  void call(const void* function);
  void forget();
  void return_op(size_t i, bool by_handler);

  const Image& image_;
  const Checks checks_;
  const Program& program_;
  const Windows& windows_;
  const Uniform uniform_;
  const Settled settled_;
  Liveness live_;
  Assembler code_;
  Moves moves_;
  Constants constants_;
  std::vector<Xbyak::Label> labels_;
  std::vector<bool> has_entry_;
  Xbyak::Label leave_;
  struct ColdPath {
    Xbyak::Label label;
    size_t op;
  };
  std::vector<ColdPath> turns_over_, joins_;
  // Where a window's gate leaves the decision to C++.
  struct SlowWindow {
    const Window* window;
    size_t op;
    Assembler::Snapshot registers;
    GateWays ways;
    Xbyak::Label back;
  };
  std::deque<SlowWindow> slow_windows_;
  // Where the handler chooses among NaNs.
  struct ForHandler {
    size_t op;
    Assembler::Snapshot before, after;
    Xbyak::Label label, back;
  };
  std::deque<ForHandler> for_handlers_;
  SourceLanes source_lanes_;
};

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
  for (ForHandler& one : for_handlers_) {
    code_.L(one.label);
    code_.leave(one.before, [&](uint32_t row) { return live_.live_before(one.op, row); });
    const Op& op = program_.ops[one.op];
    code_.mov(rdi, code_.warp);
    code_.mov(rsi, reinterpret_cast<uint64_t>(&op));
    code_.vzeroupper();
    code_.mov(rax, reinterpret_cast<uint64_t>(op.full));
    code_.call(rax);
    code_.come_back(one.after);
    code_.jmp(one.back, Xbyak::CodeGenerator::T_NEAR);
  }
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

void ProgramCode::drop_dead(size_t i) {
  const Op& op = program_.ops[i];
  const RowUse use = row_use(image_, op, meaning_of(op));
  for (const auto* list : {&use.reads, &use.writes}) {
    for (const RowUse::Row& row : *list) {
      if (!live_.live_after(i, row.offset)) code_.drop(row.offset, row.wide);
    }
  }
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

// Which of two NaNs is passed on depends on the order in which the interpreter's compiler has put
// the operands: where a result is a NaN, the handler does the operation.
bool ProgramCode::emit_doubles(size_t i) {
  if (!code_.avx512) return false;
  constexpr int kUnordered = 3, kVectors = 4;
  const Op& op = program_.ops[i];
  const Action action = meaning_of(op).action;
  ForHandler& handler = for_handlers_.emplace_back();
  handler.op = i;
  int results[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    results[v] = code_.scratch();
    const Xbyak::Xmm t = code_.vec(results[v]);
    const Xbyak::Xmm a = code_.vec(code_.use(op.a, v)), b = code_.vec(code_.use(op.b, v));
    if (action == A::kAddD) code_.vaddpd(t, a, b);
    if (action == A::kSubD) code_.vsubpd(t, a, b);
    if (action == A::kMulD) code_.vmulpd(t, a, b);
    if (action == A::kFmaD) {
      const Xbyak::Xmm c = code_.vec(code_.use(op.c, v));
      code_.vmovaps(t, a);
      code_.vfmadd213pd(t, b, c);
    }
    code_.vcmppd(v == 0 ? code_.k1 : code_.k2, t, t, kUnordered);
    if (v != 0) code_.korw(code_.k1, code_.k1, code_.k2);
  }
  code_.kortestw(code_.k1, code_.k1);
  code_.jnz(handler.label, Xbyak::CodeGenerator::T_NEAR);
  handler.before = code_.snapshot();
  for (int v = 0; v < kVectors; ++v)
    code_.vmovaps(code_.vec(code_.define(op.d, v)), code_.vec(results[v]));
  handler.after = code_.snapshot();
  code_.L(handler.back);
  return true;
}

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
  if (op.full == &ops::enter_uncounted) return;
  code_.mov(rax, code_.ptr[code_.warp + offsetof(Warp, block_entries)]);
  code_.add(code_.qword[rax + 16 * op.enter.block], 1);
  code_.add(code_.qword[rax + 16 * op.enter.block + 8], kLanes);
}

void ProgramCode::emit_window(size_t i, const Window& window) {
  moves_.forget();
  if (!window.memo.has_gate) {
    write_back_before(i);
    call_enter_window(i, window);
    forget();
    return;
  }
  prepare_gate(code_, window);
  SlowWindow& slow = slow_windows_.emplace_back();
  slow.window = &window;
  slow.op = i;
  slow.registers = code_.snapshot();
  const Settled::Bits settled = settled_.of_window[size_t(&window - windows_.list.data())];
  emit_gate(code_, window, checks_, settled, slow.ways);
  code_.L(slow.back);
}

// C++ decides, and sets the memo.
void ProgramCode::call_enter_window(size_t i, const Window& window) {
  using namespace Xbyak::util;
  code_.mov(rdi, code_.warp);
  code_.mov(rsi, reinterpret_cast<uint64_t>(&window));
  code_.vzeroupper();
  code_.mov(rax, reinterpret_cast<uint64_t>(&enter_window));
  code_.call(rax);
  Xbyak::Label good;
  code_.test(rax, rax);
  code_.jne(good);
  return_op(i, true);
  code_.L(good);
  code_.mov(code_.memo, rax);
}

void ProgramCode::emit_slow(SlowWindow& slow) {
  const auto is_live = [&](uint32_t row) { return live_.live_before(slow.op, row); };
  if (slow.ways.is_renewed) {
    using namespace Xbyak::util;
    code_.L(slow.ways.renew);
    code_.leave(slow.registers, is_live);
    code_.mov(rdi, code_.warp);
    code_.mov(rsi, reinterpret_cast<uint64_t>(slow.window));
    code_.mov(rdx, code_.memo);
    code_.vzeroupper();
    code_.mov(rax, reinterpret_cast<uint64_t>(&renew_memo));
    code_.call(rax);
    code_.test(al, al);
    code_.come_back(slow.registers);
    restore_gate(code_);
    code_.jnz(slow.ways.renewed, Xbyak::CodeGenerator::T_NEAR);
  }
  code_.L(slow.ways.slow);
  code_.leave(slow.registers, is_live);
  call_enter_window(slow.op, *slow.window);
  code_.come_back(slow.registers);
  code_.jmp(slow.back, Xbyak::CodeGenerator::T_NEAR);
}

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
  if (m.action >= A::kAddD && m.action <= A::kFmaD && emit_doubles(i)) return;
  const bool addend_dies = op.d != op.c && !live_.live_after(i, op.c);
  if (emit_lanes(code_, op, m, constants_, addend_dies)) return;
  emit_handler(i);
}

}  // namespace

uintptr_t enter(const CompiledProgram& program, const void* entry, Warp& warp, void** memos) {
  using Function = uintptr_t (*)(Warp*, void**, const void*);
  return reinterpret_cast<Function>(const_cast<void*>(program.start))(&warp, memos, entry);
}

bool is_available(const char** reason) {
  using C = Xbyak::util::Cpu;
  static const bool has = [] {
    const C cpu;
    return cpu.has(C::tAVX2) && cpu.has(C::tFMA);
  }();
  if (!has) *reason = "this processor has no AVX2";
  return has;
}

std::unique_ptr<CompiledProgram> compile(const Image& image, int32_t function, bool is_kernel,
                                         const Checks& checks,
                                         const std::vector<AddressGroup>& groups,
                                         uint32_t first_window) {
  const Program& program = image.programs[size_t(function)];
  auto result = std::make_unique<CompiledProgram>();
  result->ops = program.ops.data();
  result->windows = find_windows(image, program, groups, first_window, has_avx512());
  auto code = std::make_shared<ProgramCode>(image, program, is_kernel, checks, *result);
  code->emit();
  code->finish();
  result->entries = code->entries();
  result->start = code->start();
  result->code_bytes = code->bytes();
  result->memory = std::move(code);
  return result;
}

}  // namespace warpsim::jit
