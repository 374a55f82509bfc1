// What the time model knows of an instruction: which unit it keeps busy for how long, and what it
// waits for. Made from machine code (compute capability 7.0 to 9.0), or from PTX where there is
// none.
//
// Machine code says most by itself: in each instruction ptxas has written how many cycles the warp
// waits before its next one, which scoreboard a load or store reports to, which scoreboards to wait
// for, and which operands stay in the reuse cache. So the latency of arithmetic, the distance
// between a load and its use, and register bank conflicts are read, not estimated.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpsim/model/cubin.h"
#include "warpsim/ptx/ir.h"
#include "warpsim/timing.h"

namespace warpsim {

enum class Work : uint8_t {
  kFma,       // FP32 arithmetic
  kInteger,   // integer and logic, comparisons, moves: the ALU
  kMultiply,  // IMAD: the integer half of the multiply-add pipe
  kUniform,   // once per warp, or nothing but an issue slot
  kSlow,      // conversions, special functions
  kDouble,    // double precision
  kConstant,  // constant bank, special registers
  kShuffle,   // data exchange between lanes
  kSharedLoad,
  kSharedStore,
  kGlobalLoad,
  kGlobalStore,
  kAtomic,
  kLocal,      // spilled registers, arrays in local memory
  kAsyncCopy,  // cp.async: global to shared
  kCommitCopies,
  kWaitCopies,
  kBarrier,
  kBranch,
  kExit,
  kTensor,  // a product on a tensor core
};

struct MachineInstruction {
  Work work = Work::kInteger;
  uint8_t bytes = 4;           // per lane, of a memory access
  uint8_t tensor_bytes = 0;    // kTensor: of a row of the left factor, 32 or 16; 0: another product
  bool guarded = false;        // has a predicate
  bool links = false;          // a branch that may also fall through
  uint8_t pending_copies = 0;  // kWaitCopies: groups that may still be on their way
  // Of the scheduler, or of FP32 lanes that are fewer: more when operands come late from the
  // registers.
  float issue_cycles = 1;
  uint8_t stall = 1;            // cycles until this warp's next instruction at the earliest
  int16_t reports_to = -1;      // slot that becomes free when the result is there
  int16_t frees = -1;           // slot that becomes free when the operands have been read
  std::vector<int16_t> waits;   // slots that must be free before issue
  int32_t target = -1;          // of a branch: index into the code
  int32_t ptx = -1;             // index into ptx::Function::code of what it was made from
  int32_t shared_operand = -1;  // likewise: the load from shared memory that is one of its operands
};

struct MachineCode {
  bool from_ptx = false;  // no machine code: one instruction per PTX instruction
  int slots = 0;          // scoreboards
  std::vector<MachineInstruction> code;
};

// `kernel`: of a cubin that ptxas made from the module's text with --generate-line-info.
MachineCode decode_machine_code(const CubinKernel& kernel, const ptx::Function& function);

// The same from PTX alone (ptx_code.cpp); slots are the registers. PTX has more instructions than
// machine code where addresses are computed: see docs/time-model.md. `timing`: of the device.
MachineCode estimate_machine_code(const ptx::Function& function, const Timing& timing);

}  // namespace warpsim
