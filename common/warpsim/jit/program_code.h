// From a decoded function to machine code, basic block by basic block.
//
// Within a block rows stay in machine registers; at its ends, and wherever C++ is called, what is
// still wanted is written back to the frame. So the frame is as the interpreter would have left it
// wherever it may take over: at a block's end, after a handler that did not go on with the next
// operation, and before a window whose checks did not all pass.
//
// rbx: warp, r12: its frame, r13: the running window's memo, r15: the warp's memos. rax, rcx, rdx,
// r11: for a moment. The others: addresses of the running window's data.

#pragma once

#include <deque>
#include <vector>

#include "warpsim/jit/assembler.h"
#include "warpsim/jit/between_lanes.h"
#include "warpsim/jit/code.h"
#include "warpsim/jit/gate.h"
#include "warpsim/jit/lanes.h"
#include "warpsim/jit/liveness.h"
#include "warpsim/jit/moves.h"
#include "warpsim/jit/planted.h"
#include "warpsim/jit/settled.h"
#include "warpsim/machine/warp.h"

namespace warpsim::jit {

class ProgramCode {
 public:
  ProgramCode(const Image& image, const Program& program, bool is_kernel, const Checks& checks,
              const CompiledProgram& result, bool has_avx512)
      : image_(image),
        checks_(checks),
        program_(program),
        windows_(result.windows),
        uniform_(image, program),
        settled_(find_settled(image, program, result.windows, uniform_, is_kernel)),
        live_(image, program, is_kernel),
        code_(has_avx512),
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
  void emit_op(size_t i);
  void emit_enter(size_t i);
  void emit_handler(size_t i);
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
  SourceLanes source_lanes_;
};

}  // namespace warpsim::jit
