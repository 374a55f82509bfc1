// Which pass over the banks, and which sector, serves which lane of an access.

#pragma once

#include <array>
#include <cstdint>

#include "warpsim/counting/rules.h"

namespace warpsim::trace {

// By lane, from 0: the first of the access's wavefronts that has something for it. By the rule of
// warp_banks.cpp; the words of one bank go in the order of their addresses.
std::array<uint8_t, 32> wavefront_of_lane(const WarpAccess& access);
// By lane: the sector of its first byte, the access's sectors numbered by their addresses.
std::array<uint8_t, 32> sector_of_lane(const WarpAccess& access);

}  // namespace warpsim::trace
