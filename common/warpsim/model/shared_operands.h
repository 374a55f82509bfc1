// Arithmetic that reads one of its operands straight from shared memory: GPUs of compute capability
// 1.x. A load whose value one addition or multiply-add uses is no instruction there; it is an
// operand s[address register + offset]. The offset is a few bits, counted in units of the access,
// so that a kernel that walks through shared memory in large steps moves the address register on
// the way.
//
// Sources and what they leave open: docs/time-model.md.

#pragma once

#include "warpsim/model/machine_code.h"
#include "warpsim/timing.h"

namespace warpsim {

// `code`: one instruction per PTX instruction of `function`, in order. Folds loads into the
// arithmetic that uses them, at most one into an instruction, and puts an addition before a read
// that its address register does not reach.
void use_shared_operands(MachineCode& code, const ptx::Function& function, const Timing& timing);

}  // namespace warpsim
