// Faults that tests plant in the compiler, to see that a comparison of the engines finds them.

#pragma once

#include <cstdint>

namespace warpsim::jit {

enum class Planted : uint8_t {
  kNone,
  kSubtracts,   // add.s32 subtracts
  kForeignNan,  // NaNs stay as the processor makes them
  kDrops,       // registers are not written back at the end of a basic block
  kUncounted,   // what windows do is not counted
  kUnnoted,     // a window's loads are not noted down for the stores that follow
  kUnchecked,   // what a window's loads touch is not looked at
  kStale,       // a window's addresses are taken to be those of the time before
  kSettled,     // rows of settled windows may be written
  kOneForAll,   // all special registers are taken to be the same in all lanes
  kOtherLane,   // the first lane of a shuffle takes its value from another lane
  kUnbounded,   // loads from global memory may lie outside their array
  kOtherNan,    // of several NaNs a fused multiply-add of doubles passes on the last, not the first
  kDivides,     // division takes its numbers the other way round, a square root is none
};
inline Planted planted = Planted::kNone;

}  // namespace warpsim::jit
