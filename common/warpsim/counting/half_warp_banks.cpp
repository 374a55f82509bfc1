// Shared memory of compute capability 1.x: 16 banks of 4 bytes, one half warp at a time (CUDA C
// programming guide 3.0, "Shared memory"). A request is served in steps; each step serves
//
//   - all lanes that go to one chosen word, the broadcast word, and
//   - one lane for every other bank.
//
// The guide leaves open which word is broadcast: here it is that of the lowest lane not served yet.
// Words of 8 and 16 bytes go as two and four requests of 4 bytes each.

#include <algorithm>

#include "warpsim/counting/rules.h"
#include "warpsim/lanes.h"

namespace warpsim {

namespace {

constexpr uint32_t kBanks = 16;

// Steps that serve the lanes of `group` when each goes to the word `offset_bytes` behind its
// address.
uint32_t steps(const WarpAccess& access, uint32_t group, uint32_t offset_bytes) {
  auto word = [&](int lane) { return (access.address[size_t(lane)] + offset_bytes) / 4; };
  uint32_t unserved = group, count = 0;
  while (unserved != 0) {
    const uint64_t broadcast = word(__builtin_ctz(unserved));
    uint32_t busy = 1u << (broadcast % kBanks), served = 0;
    for_each_lane(unserved, [&](int lane) {
      const uint32_t bank = 1u << (word(lane) % kBanks);
      if (word(lane) != broadcast && (busy & bank) != 0) return;
      busy |= bank;
      served |= 1u << lane;
    });
    unserved &= ~served;
    ++count;
  }
  return count;
}

}  // namespace

BankCost half_warp_banks(const WarpAccess& access) {
  BankCost cost;
  for (uint32_t half : {0x0000FFFFu, 0xFFFF0000u}) {
    const uint32_t group = access.mask & half;
    if (group == 0) continue;
    for (uint32_t offset = 0; offset < std::max(4u, access.bytes); offset += 4) {
      cost.wavefronts = uint8_t(cost.wavefronts + steps(access, group, offset));
      ++cost.ideal;
    }
  }
  return cost;
}

}  // namespace warpsim
