// The code at a window's beginning: whether everything is as the warp's memo has it, and then what
// State::enter_window would do: addresses, counters, notes for the shadow, places of the data.

#pragma once

#include "warpsim/jit/assembler.h"
#include "warpsim/jit/settled.h"
#include "warpsim/jit/window.h"
#include "warpsim/machine/image.h"
#include "warpsim/sim.h"

namespace warpsim::jit {

// Ways out of a gate, to code that is not there yet: where C++ has to decide, with nothing done;
// and where State::renew is to be asked, and comes back if it says yes.
struct GateWays {
  Xbyak::Label slow, renew, renewed;
  bool is_renewed = false;  // there is such a way
};
// Only register `memo` of the address registers is kept; it is set in either case, 0 if there is no
// memo yet.
void emit_gate(Assembler& code, const Window& window, const Checks& checks, Settled::Bits settled,
               GateWays& ways);
// What the gate's registers hold when it comes back; the processor's flags stay as they are.
void restore_gate(Assembler& code);
// Brings into registers' final form what the gate compares; before emit_gate, and before the state
// of the registers is kept for the slow way.
void prepare_gate(Assembler& code, const Window& window);

}  // namespace warpsim::jit
