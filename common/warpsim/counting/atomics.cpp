// Atomics of a warp. Lanes that meet at one address wait for each other: global memory takes them
// in turns, each of which moves its sectors again; each bank of shared memory carries out one
// lane's operation at a time.
//
// Measured on an H200 (docs/measurements/memory-instructions.md).

#include <algorithm>

#include "warpsim/counting/rules.h"
#include "warpsim/lanes.h"

namespace warpsim {

namespace {

constexpr uint32_t kBanks = 32;

// Calls body(lanes) for the first lanes at each address, then for the second ones, ...
template <class Body>
void each_turn(const WarpAccess& access, Body body) {
  for (uint32_t left = access.mask; left != 0;) {
    uint32_t turn = 0;
    std::array<uint64_t, kLanes> taken;
    size_t count = 0;
    for_each_lane(left, [&](int lane) {
      const uint64_t address = access.address[size_t(lane)];
      if (std::find(taken.begin(), taken.begin() + count, address) != taken.begin() + count) return;
      taken[count++] = address;
      turn |= 1u << lane;
    });
    body(turn);
    left &= ~turn;
  }
}

}  // namespace

uint32_t atomic_sectors(const WarpAccess& access) {
  uint32_t all = 0;
  WarpAccess turn = access;
  each_turn(access, [&](uint32_t lanes) {
    turn.mask = lanes;
    all += sectors(turn);
  });
  return all;
}

uint32_t atomic_turns(const WarpAccess& access) {
  uint32_t turns = 0;
  each_turn(access, [&](uint32_t) { ++turns; });
  return turns;
}

uint32_t atomic_wavefronts(const WarpAccess& access) {
  std::array<uint8_t, kBanks> lanes{};
  const uint32_t words = std::max(1u, access.bytes / 4);
  uint32_t most = 0;
  for_each_lane(access.mask, [&](int lane) {
    for (uint32_t i = 0; i < words; ++i) {
      const uint64_t word = access.address[size_t(lane)] / 4 + i;
      most = std::max<uint32_t>(most, ++lanes[word % kBanks]);
    }
  });
  return most;
}

uint32_t counting_wavefronts(const WarpAccess& access) {
  WarpAccess first = access;  // lanes at each address
  bool is_first = true;
  each_turn(access, [&](uint32_t lanes) {
    if (is_first) first.mask = lanes;
    is_first = false;
  });
  return atomic_wavefronts(first);
}

}  // namespace warpsim
