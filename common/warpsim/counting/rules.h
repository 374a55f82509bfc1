// What one warp's access to memory costs, by generation of GPU: one rule per file, each a function
// of the active lanes' addresses alone. Sources: CUDA C programming guide, the sections on global
// and shared memory of each compute capability.

#pragma once

#include <array>
#include <cstdint>

#include "warpsim/device.h"

namespace warpsim {

// The active lanes of one warp instruction and where each of them goes.
struct WarpAccess {
  uint32_t mask = 0;                      // active lanes, not 0
  uint32_t bytes = 0;                     // per lane: 1, 2, 4, 8, 16; addresses are multiples of it
  std::array<uint64_t, 32> address = {};  // of the active lanes, in bytes
  bool is_store = false;
};

// The transactions that serve a request to global memory.
struct Traffic {
  std::array<uint8_t, 3> transactions = {};  // of 32, 64 and 128 bytes
  // Sum over the transactions of (distinct bytes asked for) / (bytes moved), in 1/128: divided by
  // the number of transactions, the average bandwidth utilisation.
  uint16_t used_128ths = 0;
  uint32_t count() const { return uint32_t{transactions[0]} + transactions[1] + transactions[2]; }
};

// Passes of a shared memory request over the banks, and how many the same lanes would need at best.
struct BankCost {
  uint8_t wavefronts = 0, ideal = 0;
};

uint32_t sectors(const WarpAccess& access);  // global memory since 5.0: sectors.cpp
// The same of a cp.async.cg, whose lanes write to `target` in shared memory: async_sectors.cpp
uint32_t async_sectors(const WarpAccess& access, const std::array<uint32_t, 32>& target);
// Of local memory, where the same word of neighbouring lanes lies side by side: `address` holds
// offsets in each lane's own memory.
uint32_t local_sectors(const WarpAccess& access);
Traffic warp_lines(const WarpAccess& access);          // global memory of 2.x: warp_lines.cpp
Traffic half_warp_segments(const WarpAccess& access);  // of 1.2 and 1.3: half_warp_segments.cpp

BankCost warp_banks(const WarpAccess& access);  // shared memory since 2.0: warp_banks.cpp
// Of atomics, by what the hardware of today does: atomics.cpp. Turns: the most lanes at one
// address.
uint32_t atomic_sectors(const WarpAccess& access);
uint32_t atomic_turns(const WarpAccess& access);
uint32_t atomic_wavefronts(const WarpAccess& access);
uint32_t counting_wavefronts(
    const WarpAccess& access);                       // of adding 1 where nobody reads the old value
BankCost half_warp_banks(const WarpAccess& access);  // of 1.x: half_warp_banks.cpp

// The rules of one generation. Sectors are counted for every one of them; `traffic` is null where
// they are all there is to count.
struct CountingRules {
  Traffic (*traffic)(const WarpAccess&) = nullptr;
  BankCost (*banks)(const WarpAccess&) = &warp_banks;
};
const CountingRules& counting_rules(CountingRule rule);

}  // namespace warpsim
