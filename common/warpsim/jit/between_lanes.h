// The machine code of operations between the lanes of a whole warp: shuffles and votes.

#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "warpsim/jit/lanes.h"

namespace warpsim::jit {

// Which lane each lane's value comes from; the code has their addresses.
using SourceLanes = std::deque<std::array<uint32_t, kLanes>>;

// False, and nothing emitted: the handler has to do it. It does where a mask may leave lanes out,
// and where parts of a warp that are known when the kernel runs only exchange values.
bool emit_between_lanes(Assembler& code, const Op& op, const Meaning& meaning,
                        const Constants& constants, SourceLanes& sources);

}  // namespace warpsim::jit
