// Shared memory since compute capability 2.0: 32 banks of 4 bytes, served to a whole warp. A pass
// over the banks (a wavefront) gives each bank's one word to all lanes that want it, so a request
// takes as many as the largest number of distinct words in one bank.
//
// 8-byte accesses go by half warps, 16-byte ones by quarters; two neighbours go together when lanes
// next to each other (or two apart) share their addresses, but never more than half a warp of
// 16-byte accesses.

#include <algorithm>

#include "warpsim/exec/lanes.h"
#include "warpsim/observe/counting/rules.h"

namespace warpsim {

namespace {

constexpr uint32_t kBanks = 32;

// Wavefronts of the lanes in `group`: the largest number of distinct words that one bank has to
// serve.
uint32_t group_wavefronts(const WarpAccess& access, uint32_t group) {
  std::array<uint64_t, kLanes * 4> words;
  size_t count = 0;
  for_each_lane(group & access.mask, [&](int lane) {
    const uint32_t per_lane = std::max(1u, access.bytes / 4);
    for (uint32_t i = 0; i < per_lane; ++i) words[count++] = access.address[size_t(lane)] / 4 + i;
  });
  std::sort(words.begin(), words.begin() + count);
  std::array<uint8_t, kBanks> served{};
  uint32_t most = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && words[i] == words[i - 1]) continue;
    most = std::max<uint32_t>(most, ++served[words[i] % kBanks]);
  }
  return most;
}

// True if every active lane of the group finds its partner (lane ^ distance) at its own address or
// inactive.
bool partners_share(const WarpAccess& access, uint32_t group, int distance) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int partner = lane ^ distance;
    if (!(group & access.mask & (1u << lane)) || !(access.mask & (1u << partner))) continue;
    if (access.address[size_t(lane)] != access.address[size_t(partner)]) return false;
  }
  return true;
}

bool pairs_share(const WarpAccess& access, uint32_t group) {
  return partners_share(access, group, 1) || partners_share(access, group, 2);
}

}  // namespace

BankCost warp_banks(const WarpAccess& access) {
  BankCost cost;
  auto serve = [&](uint32_t group) {
    if ((group & access.mask) == 0) return;
    cost.wavefronts = uint8_t(cost.wavefronts + group_wavefronts(access, group));
    ++cost.ideal;
  };
  if (access.bytes <= 4 || (access.bytes == 8 && pairs_share(access, kAllLanes))) {
    serve(kAllLanes);
    return cost;
  }
  for (uint32_t half : {0x0000FFFFu, 0xFFFF0000u}) {
    if (access.bytes == 8 || pairs_share(access, half)) {
      serve(half);
    } else {
      serve(half & 0x00FF00FF);
      serve(half & 0xFF00FF00);
    }
  }
  return cost;
}

}  // namespace warpsim
