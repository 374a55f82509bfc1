// Which bytes of one 128-byte segment a group of lanes asks for.

#pragma once

#include <bit>
#include <bitset>

#include "warpsim/counting/rules.h"

namespace warpsim {

inline constexpr uint32_t kSegmentBytes = 128;

using SegmentBytes = std::bitset<kSegmentBytes>;

// The lanes of `group` that go to the segment with this number (address / 128). An aligned access
// of at most 16 bytes never leaves its segment.
inline uint32_t lanes_in_segment(const WarpAccess& access, uint32_t group, uint64_t segment) {
  uint32_t lanes = 0;
  for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (access.address[size_t(lane)] / kSegmentBytes == segment) lanes |= 1u << lane;
  }
  return lanes;
}

inline SegmentBytes useful_bytes(const WarpAccess& access, uint32_t lanes) {
  SegmentBytes used;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const uint64_t first = access.address[size_t(std::countr_zero(rest))] % kSegmentBytes;
    for (uint64_t b = first; b < first + access.bytes && b < kSegmentBytes; ++b) used.set(b);
  }
  return used;
}

}  // namespace warpsim
