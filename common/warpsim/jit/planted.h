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
};
inline Planted planted = Planted::kNone;

}  // namespace warpsim::jit
