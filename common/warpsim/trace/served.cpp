#include "warpsim/trace/served.h"

#include <algorithm>
#include <map>
#include <set>

#include "warpsim/lanes.h"

namespace warpsim::trace {

namespace {

constexpr uint32_t kBanks = 32;

bool shares_with_partner(const WarpAccess& access, int distance) {
  bool shares = true;
  for_each_lane(access.mask, [&](int lane) {
    const int partner = lane ^ distance;
    if ((access.mask >> partner & 1) == 0) return;
    shares &= access.address[size_t(lane)] == access.address[size_t(partner)];
  });
  return shares;
}

int lanes_together(const WarpAccess& access) {
  if (access.bytes <= 4) return kLanes;
  const int lanes = access.bytes == 8 ? 16 : 8;
  const bool in_pairs = shares_with_partner(access, 1) || shares_with_partner(access, 2);
  return !access.is_store && in_pairs ? 2 * lanes : lanes;
}

}  // namespace

std::array<uint8_t, 32> wavefront_of_lane(const WarpAccess& access) {
  std::array<uint8_t, 32> served{};
  const int together = lanes_together(access);
  const uint32_t words = std::max(1u, access.bytes / 4);
  uint32_t before = 0;  // wavefronts of the groups that went first
  for (int first = 0; first < kLanes; first += together) {
    const uint32_t group = together == kLanes ? kAllLanes : ((1u << together) - 1) << first;
    std::array<std::set<uint64_t>, kBanks> banks;
    for_each_lane(access.mask & group, [&](int lane) {
      for (uint32_t i = 0; i < words; ++i) {
        const uint64_t word = access.address[size_t(lane)] / 4 + i;
        banks[word % kBanks].insert(word);
      }
    });
    size_t most = 0;
    for (const auto& bank : banks) most = std::max(most, bank.size());
    for_each_lane(access.mask & group, [&](int lane) {
      size_t wavefront = most;
      for (uint32_t i = 0; i < words; ++i) {
        const uint64_t word = access.address[size_t(lane)] / 4 + i;
        const auto& bank = banks[word % kBanks];
        wavefront = std::min(wavefront, size_t(std::distance(bank.begin(), bank.find(word))));
      }
      served[size_t(lane)] = uint8_t(before + wavefront);
    });
    before += uint32_t(most);
  }
  return served;
}

std::array<uint8_t, 32> sector_of_lane(const WarpAccess& access) {
  constexpr uint64_t kSectorBytes = 32;
  std::map<uint64_t, uint8_t> numbers;
  for_each_lane(access.mask, [&](int lane) {
    const uint64_t begin = access.address[size_t(lane)];
    numbers[begin / kSectorBytes];
    numbers[(begin + std::max(1u, access.bytes) - 1) / kSectorBytes];
  });
  uint8_t next = 0;
  for (auto& [sector, number] : numbers) number = next++;
  std::array<uint8_t, 32> served{};
  for_each_lane(access.mask, [&](int lane) {
    served[size_t(lane)] = numbers[access.address[size_t(lane)] / kSectorBytes];
  });
  return served;
}

}  // namespace warpsim::trace
