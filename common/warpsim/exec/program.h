// The decoded form of a function: a flat stream of operations with their operands resolved.
//
// An operand is the byte offset of a ROW in the running function's frame: 32 lanes of 4 bytes
// (registers up to 32 bits) or of 8 bytes (64-bit registers), or one 4-byte lane mask (predicates).
// Immediates and special registers are rows that hold their value in every lane, filled in before
// the frame is used. So a handler never asks what kind an operand is.

#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace warpsim {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xFFFFFFFF;
inline constexpr uint32_t kRow32Bytes = 128;
inline constexpr uint32_t kRow64Bytes = 256;

// Calls body(lane) for every set bit, lowest first.
template <class Body>
inline void for_each_lane(uint32_t mask, Body body) {
  for (; mask != 0; mask &= mask - 1) body(std::countr_zero(mask));
}

struct Op;
struct Warp;
// Executes `op` for the warp's active lanes and returns the operation to go on with, nullptr when
// the warp has to stop (Warp::state says why).
using Handler = const Op* (*)(Warp&, const Op*);

struct Op {
  Handler full = nullptr;                      // when all 32 lanes are active
  Handler masked = nullptr;                    // for any subset
  uint32_t d = 0, a = 0, b = 0, c = 0, e = 0;  // rows or predicates; d is the destination
  uint32_t aux =
      0;  // basic block, memory site, call site, ...: an index whose meaning the handler knows
  int64_t imm = 0;           // address offset, distance to the reconvergence point, ...
  int32_t jump = 0;          // distance to the target, in operations
  uint32_t instruction = 0;  // index into ptx::Function::code
};

// Which lanes-wide functions carry out an operation and how wide the rows are that they expect.
struct Handlers {
  Handler full = nullptr, masked = nullptr;
  bool wide_d = false, wide_a = false, wide_b = false, wide_c = false;  // 64-bit rows
  explicit operator bool() const { return full != nullptr; }
};

// What an instruction orders: nothing, accesses as its block sees them, or as all blocks do.
enum class Fence : uint8_t { kNone, kBlock, kDevice };

// One static memory instruction.
struct MemorySite {
  ptx::Space space = ptx::Space::kGlobal;
  uint8_t element_bytes = 4;
  uint8_t elements = 1;
  bool is_store = false;
  bool is_atomic = false;
  bool is_volatile = false;    // or .relaxed, .acquire, .release
  Fence fence = Fence::kNone;  // of a .release or .acq_rel
  bool is_async = false;       // the shared side of cp.async
  bool past_l1 = false;        // the global side of cp.async.cg
  bool in_const_space = false;
  int32_t shared_array = -1;  // the one shared array the address can come from, index into
                              // Image::shared; -1: look it up
  // Of accesses to shared memory that ptxas makes one of (ptx/merge.h): the first one stands for
  // all, with so many bytes per lane; the others are not counted. 0: not the first, or alone.
  uint8_t merged_bytes = 0;
  uint8_t merged_times = 1;  // so many accesses of merged_bytes, where a load falls apart
  bool merged_away = false;
  uint32_t function = 0;     // index into ptx::Module::functions
  uint32_t instruction = 0;  // index into its code
  uint32_t bytes() const { return uint32_t{element_bytes} * elements; }
};

// A run of instructions that are executed together; counted once per entry.
struct BasicBlock {
  uint32_t function = 0;
  uint32_t first = 0, end = 0;  // instructions [first, end)
};

struct CallSite {
  int32_t callee = -1;  // index into ptx::Module::functions
  struct Copy {
    uint32_t from = 0, to = 0, rows = 0;
  };  // 32-bit rows, caller <-> callee frame
  std::vector<Copy> arguments, results;
};

struct Program {
  bool decoded = false;
  std::vector<Op> ops;
  uint32_t frame_bytes = 0;     // multiple of 64
  uint32_t register_bytes = 0;  // its beginning: predicates, parameters, registers
  uint32_t local_bytes = 0;     // of the function's own local variables, per thread
  struct Constant {
    uint32_t row;
    bool wide;
    uint64_t bits;
  };
  struct SpecialRow {
    uint32_t row;
    bool wide;
    ptx::Special special;
  };
  std::vector<Constant> constants;
  std::vector<SpecialRow> specials;
  std::vector<uint32_t>
      param_rows;                // first row of Function::params[i], then of Function::returns[i]
  std::vector<int32_t> callees;  // functions this one calls
};

}  // namespace warpsim
