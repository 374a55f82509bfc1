// Shared memory since compute capability 2.0: 32 banks of 4 bytes, served to a whole warp. A pass
// over the banks (a wavefront) gives each bank's one word to all lanes that want it, so a request
// takes as many as the largest number of distinct words in one bank.
//
// 8-byte accesses go by half warps, 16-byte ones by quarters. Of loads two neighbours go together
// when all active lanes of the warp share their address with the lane next to them, or all with the
// lane two away, as far as those are active. Stores never do.
//
// Measured on an H200 (docs/measurements/shared-wavefronts.md), from 32 banks on taken to hold.

#include <algorithm>

#include "warpsim/counting/rules.h"
#include "warpsim/lanes.h"

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

// True if every active lane finds its partner (lane ^ distance) at its own address or inactive.
bool partners_share(const WarpAccess& access, int distance) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int partner = lane ^ distance;
    if (!(access.mask & (1u << lane)) || !(access.mask & (1u << partner))) continue;
    if (access.address[size_t(lane)] != access.address[size_t(partner)]) return false;
  }
  return true;
}

}  // namespace

BankCost warp_banks(const WarpAccess& access) {
  BankCost cost;
  auto serve = [&](uint32_t group) {
    if ((group & access.mask) == 0) return;
    cost.wavefronts = uint8_t(cost.wavefronts + group_wavefronts(access, group));
    ++cost.ideal;
  };
  if (access.bytes <= 4) {
    serve(kAllLanes);
    return cost;
  }
  uint32_t lanes = access.bytes == 8 ? 16 : 8;
  if (!access.is_store && (partners_share(access, 1) || partners_share(access, 2))) lanes *= 2;
  const uint32_t group = uint32_t((uint64_t{1} << lanes) - 1);
  for (uint32_t first = 0; first < kLanes; first += lanes) serve(group << first);
  return cost;
}

}  // namespace warpsim
