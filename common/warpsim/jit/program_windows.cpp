// Where a window begins: its gate, and the ways out of it to C++.

#include "warpsim/jit/program_code.h"
#include "warpsim/jit/state.h"

namespace warpsim::jit {

namespace {

// What the code calls: ordinary functions, so that it needs nothing but their addresses.
Memo* enter_window(Warp* w, const Window* window) {
  return State::enter_window(*w, *window);
}
bool renew_memo(Warp* w, const Window* window, Memo* memo) {
  return State::renew(*w, *window, *memo);
}

}  // namespace

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

}  // namespace warpsim::jit
