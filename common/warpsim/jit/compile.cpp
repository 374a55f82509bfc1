// From a decoded function to machine code, basic block by basic block.
//
// Within a block rows stay in machine registers; at its ends, and wherever C++ is called, what is
// still wanted is written back to the frame. So the frame is as the interpreter would have left it
// wherever it may take over: at a block's end, after a handler that did not go on with the next
// operation, and before a window whose checks did not all pass.
//
// rbx: warp, r12: its frame, r13: places. rax, rcx, rdx, r11: for a moment. The others: addresses
// of the running window's data.

#include <xbyak/xbyak_util.h>

#include <algorithm>
#include <cstddef>

#include "warpsim/exec/ops.h"
#include "warpsim/jit/assembler.h"
#include "warpsim/jit/code.h"
#include "warpsim/jit/lanes.h"
#include "warpsim/jit/liveness.h"
#include "warpsim/jit/planted.h"
#include "warpsim/jit/state.h"
#include "warpsim/jit/vectors.h"

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
  return has && !only_narrow_vectors;
}

// What the code calls. They are ordinary functions, so that it needs nothing but their addresses.
bool enter_window(Warp* w, const Window* window) {
  return State::enter_window(*w, *window);
}
const Op* give_up_turn(Warp* w, const Op* op) {
  return w->stop(op, WarpState::kReady);
}

class ProgramCode {
 public:
  ProgramCode(const Image& image, const Program& program, bool is_kernel,
              const CompiledProgram& result)
      : image_(image),
        program_(program),
        windows_(result.windows),
        live_(image, program, is_kernel),
        code_(has_avx512()),
        labels_(program.ops.size()),
        has_entry_(program.ops.size(), false) {
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
  void emit_window(size_t i, const Window& window);
  void emit_load(size_t i, const Window& window);
  void emit_store(size_t i, const Window& window);
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
  // A register with an address that is among the running window's places.
  Reg64 place(uint32_t index, size_t field_offset);

  const Image& image_;
  const Program& program_;
  const Windows& windows_;
  Liveness live_;
  Assembler code_;
  Constants constants_;
  std::vector<Xbyak::Label> labels_;
  std::vector<bool> has_entry_;
  Xbyak::Label leave_;
  struct ColdPath {
    Xbyak::Label label;
    size_t op;
  };
  std::vector<ColdPath> turns_over_, joins_;
  // Which place each address register holds, as offset within the places; -1: none.
  static constexpr int kAddressRegisters = 8;
  int64_t held_place_[kAddressRegisters];
  int next_address_register_ = 0;
};

void ProgramCode::emit() {
  using namespace Xbyak::util;
  // uintptr_t enter(Warp* rdi, Place* rsi, const void* entry rdx)
  for (const Reg64& r : {rbx, rbp, r12, r13, r14, r15}) code_.push(r);
  code_.sub(rsp, 8);
  code_.mov(code_.warp, rdi);
  code_.mov(code_.places, rsi);
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
  std::fill(std::begin(held_place_), std::end(held_place_), -1);
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
  if (op.full == &ops::enter_uncounted) return;
  code_.mov(rax, code_.ptr[code_.warp + offsetof(Warp, block_entries)]);
  code_.add(code_.qword[rax + 16 * op.enter.block], 1);
  code_.add(code_.qword[rax + 16 * op.enter.block + 8], kLanes);
}

void ProgramCode::emit_window(size_t i, const Window& window) {
  using namespace Xbyak::util;
  write_back_before(i);
  code_.mov(rdi, code_.warp);
  code_.mov(rsi, reinterpret_cast<uint64_t>(&window));
  call(reinterpret_cast<const void*>(&enter_window));
  Xbyak::Label good;
  code_.test(al, al);
  code_.jne(good);
  return_op(i, true);
  code_.L(good);
}

Reg64 ProgramCode::place(uint32_t index, size_t field_offset) {
  using namespace Xbyak::util;
  const Reg64 registers[kAddressRegisters] = {r8, r9, r10, r14, r15, rsi, rdi, rbp};
  const auto offset = int64_t(index * sizeof(Place) + field_offset);
  for (int k = 0; k < kAddressRegisters; ++k) {
    if (held_place_[k] == offset) return registers[k];
  }
  const int k = next_address_register_;
  next_address_register_ = (k + 1) % kAddressRegisters;
  held_place_[k] = offset;
  code_.mov(registers[k], code_.ptr[code_.places + uint32_t(offset)]);
  return registers[k];
}

void ProgramCode::emit_load(size_t i, const Window& window) {
  const Op& op = program_.ops[i];
  const MemorySite& site = image_.sites[op.access.site];
  const bool shared = site.space == ptx::Space::kShared;
  const Window::Load* load = nullptr;
  for (const Window::Load& l : shared ? window.shared : window.global) {
    if (l.op == &op) load = &l;
  }
  const Shape& shape = window.groups[load->group].shape;
  const int32_t displacement = shared ? int32_t(op.access.offset) : 0;
  const uint32_t rows[4] = {op.d, op.a, op.b, op.c};
  const size_t per_half = size_t(code_.vectors) / 2;
  const bool consecutive[2] = {shape.half[0] == HalfShape::kConsecutive,
                               shape.half[1] == HalfShape::kConsecutive};
  for (int e = 0; e < site.elements; ++e) {
    for (int v = 0; v < code_.vectors; ++v) {
      const size_t half = size_t(v) / per_half, within = size_t(v) % per_half;
      const int at = displacement + 4 * e;
      if (shape.by_halves) {
        const Reg64 base = place(load->place, offsetof(Place, half) + 8 * half);
        const Xbyak::Xmm d = code_.vec(code_.define(rows[e], v));
        if (consecutive[half])
          code_.vmovups(d, code_.ptr[base + (at + int(within) * code_.vector_bytes)]);
        else
          code_.vbroadcastss(d, code_.dword[base + at]);
        code_.release();
        continue;
      }
      const Reg64 base = place(load->place, offsetof(Place, half));
      const Reg64 deltas = place(load->place, offsetof(Place, delta));
      const Xbyak::Xmm index = code_.vec(code_.scratch());
      code_.vmovups(index, code_.ptr[deltas + v * code_.vector_bytes]);
      if (code_.avx512) {
        const Xbyak::Xmm d = code_.vec(code_.define(rows[e], v));
        code_.kxnorw(code_.k1, code_.k1, code_.k1);
        code_.vpxord(d, d, d);
        code_.vgatherdps(d | code_.k1, code_.ptr[base + Xbyak::Zmm(index.getIdx()) + at]);
      } else {
        const Xbyak::Xmm all = code_.vec(code_.scratch());
        code_.vpcmpeqd(all, all, all);
        const Xbyak::Xmm d = code_.vec(code_.define(rows[e], v));
        code_.vgatherdps(d, code_.ptr[base + Xbyak::Ymm(index.getIdx()) + at], all);
      }
      code_.release();
    }
  }
}

void ProgramCode::emit_store(size_t i, const Window& window) {
  const Op& op = program_.ops[i];
  const MemorySite& site = image_.sites[op.access.site];
  const Window::Load* store = nullptr;
  for (const Window::Load& s : window.stores) {
    if (s.op == &op) store = &s;
  }
  const bool by_halves = window.groups[store->group].shape.by_halves;
  const uint32_t rows[4] = {op.d, op.a, op.b, op.c};
  const size_t per_half = size_t(code_.vectors) / 2;
  for (int e = 0; e < site.elements; ++e) {
    for (int v = 0; v < code_.vectors; ++v) {
      const size_t half = size_t(v) / per_half, within = size_t(v) % per_half;
      const int at = int32_t(op.access.offset) + 4 * e;
      const Xbyak::Xmm value = code_.vec(code_.use(rows[e], v));
      if (by_halves) {  // consecutive, as no two lanes go to one place
        const Reg64 base = place(store->place, offsetof(Place, half) + 8 * half);
        code_.vmovups(code_.ptr[base + (at + int(within) * code_.vector_bytes)], value);
      } else {
        const Reg64 base = place(store->place, offsetof(Place, half));
        const Reg64 deltas = place(store->place, offsetof(Place, delta));
        const Xbyak::Xmm index = code_.vec(code_.scratch());
        code_.vmovups(index, code_.ptr[deltas + v * code_.vector_bytes]);
        code_.kxnorw(code_.k1, code_.k1, code_.k1);
        code_.vscatterdps(code_.ptr[base + Xbyak::Zmm(index.getIdx()) + at] | code_.k1,
                          Xbyak::Zmm(value.getIdx()));
      }
      code_.release();
    }
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
  if (windows_.starting[i] >= 0) emit_window(i, windows_.list[size_t(windows_.starting[i])]);
  switch (m.action) {
    case A::kEnter:
      return emit_enter(i);
    case A::kBranch:
      return emit_branch(i);
    case A::kBranchIf:
    case A::kBranchIfNot:
      return emit_branch_if(i);
    case A::kLoad:
      if (windows_.of_access[i] >= 0)
        return emit_load(i, windows_.list[size_t(windows_.of_access[i])]);
      return emit_handler(i);
    case A::kStore:
      if (windows_.of_access[i] >= 0)
        return emit_store(i, windows_.list[size_t(windows_.of_access[i])]);
      return emit_handler(i);
    case A::kAddress:
      if (windows_.finds_address[i]) return;
      return emit_handler(i);
    default:
      break;
  }
  const bool addend_dies = op.d != op.c && !live_.live_after(i, op.c);
  if (emit_lanes(code_, op, m, constants_, addend_dies)) return;
  emit_handler(i);
}

}  // namespace

uintptr_t enter(const CompiledProgram& program, const void* entry, Warp& warp, Place* places) {
  using Function = uintptr_t (*)(Warp*, Place*, const void*);
  return reinterpret_cast<Function>(const_cast<void*>(program.start))(&warp, places, entry);
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
                                         const std::vector<AddressGroup>& groups,
                                         uint32_t first_window) {
  const Program& program = image.programs[size_t(function)];
  auto result = std::make_unique<CompiledProgram>();
  result->ops = program.ops.data();
  result->windows = find_windows(image, program, groups, first_window, has_avx512());
  auto code = std::make_shared<ProgramCode>(image, program, is_kernel, *result);
  code->emit();
  code->finish();
  result->entries = code->entries();
  result->start = code->start();
  result->code_bytes = code->bytes();
  result->memory = std::move(code);
  return result;
}

}  // namespace warpsim::jit
