#include "warpsim/observe/pattern.h"

#include <algorithm>
#include <cstring>

#include "warpsim/exec/lanes.h"

namespace warpsim {

namespace {

constexpr int kBanks = 32;
constexpr int kSectorBytes = 32;

// Wavefronts of the lanes in `group`: the largest number of distinct words that one bank has to
// serve.
int group_wavefronts(const Pattern& p, uint32_t group) {
  std::array<int32_t, kLanes * 4> words;
  int count = 0;
  for_each_lane(group & p.mask, [&](int lane) {
    const int per_lane = std::max(1, p.bytes / 4);
    for (int i = 0; i < per_lane; ++i) words[count++] = (p.delta[lane] >> 2) + i;
  });
  std::sort(words.begin(), words.begin() + count);
  std::array<uint8_t, kBanks> served{};
  int most = 0;
  for (int i = 0; i < count; ++i) {
    if (i > 0 && words[i] == words[i - 1]) continue;
    most = std::max<int>(most, ++served[words[i] & (kBanks - 1)]);
  }
  return most;
}

// True if every active lane of the group finds its partner (lane ^ distance) at its own address or
// inactive.
bool partners_share(const Pattern& p, uint32_t group, int distance) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int partner = lane ^ distance;
    if (!(group & p.mask & (1u << lane)) || !(p.mask & (1u << partner))) continue;
    if (p.delta[lane] != p.delta[partner]) return false;
  }
  return true;
}

bool pairs_share(const Pattern& p, uint32_t group) {
  return partners_share(p, group, 1) || partners_share(p, group, 2);
}

}  // namespace

void Pattern::build() {
  lowest = 0;
  int32_t highest = 0;
  aligned = true;
  for_each_lane(mask, [&](int lane) {
    lowest = std::min(lowest, delta[lane]);
    highest = std::max(highest, delta[lane]);
    if (delta[lane] % bytes != 0) aligned = false;
  });
  span_bytes = uint32_t(highest - lowest) + bytes;
  sectors_by_phase_.fill(0);
  build_runs();
  build_halves();
  build_wavefronts();
}

void Pattern::build_runs() {
  struct Touch {
    int32_t granule;
    int32_t lane;
  };
  std::array<Touch, kLanes * 16> touches;
  size_t count = 0;
  for_each_lane(mask, [&](int lane) {
    const int32_t first = delta[lane] >> granule_shift;
    const int32_t last = (delta[lane] + bytes - 1) >> granule_shift;
    for (int32_t g = first; g <= last; ++g) touches[count++] = {g, lane};
  });
  std::sort(touches.begin(), touches.begin() + count, [](const Touch& x, const Touch& y) {
    return x.granule != y.granule ? x.granule < y.granule : x.lane < y.lane;
  });
  runs.clear();
  who.clear();
  second.clear();
  overlapping = false;
  for (size_t i = 0; i < count; ++i) {
    const Touch& t = touches[i];
    if (i > 0 && touches[i - 1].granule == t.granule) {
      who.back() |= kSeveral;
      second.back() = uint32_t(t.lane);
      overlapping = true;
      continue;
    }
    if (i > 0 && touches[i - 1].granule + 1 == t.granule)
      ++runs.back().count;
    else
      runs.push_back({t.granule, 1, uint16_t(who.size())});
    who.push_back(uint32_t(t.lane));
    second.push_back(uint32_t(t.lane));
  }
}

void Pattern::build_halves() {
  halves_ready = mask == kAllLanes && bytes == 4;
  for (int h = 0; h < 2; ++h) {
    bool one = true, consecutive = true;
    for (int i = 1; i < 16; ++i) {
      const int32_t step = delta[16 * h + i] - delta[16 * h];
      one = one && step == 0;
      consecutive = consecutive && step == 4 * i;
    }
    half[h] = one ? HalfShape::kOneWord : consecutive ? HalfShape::kConsecutive : HalfShape::kOther;
    if (half[h] == HalfShape::kOther) halves_ready = false;
  }
}

// 8-byte accesses go by half warps, 16-byte ones by quarters; two neighbours go together when lanes
// next to each other (or two apart) share their addresses, but never more than half a warp of
// 16-byte accesses. Conflicts do not depend on the base, which is a multiple of 4.
void Pattern::build_wavefronts() {
  wavefronts = ideal_wavefronts = 0;
  auto serve = [&](uint32_t group) {
    if ((group & mask) == 0) return;
    wavefronts = uint8_t(wavefronts + group_wavefronts(*this, group));
    ++ideal_wavefronts;
  };
  if (bytes <= 4 || (bytes == 8 && pairs_share(*this, kAllLanes))) {
    serve(kAllLanes);
    return;
  }
  for (uint32_t half : {0x0000FFFFu, 0xFFFF0000u}) {
    if (bytes == 8 || pairs_share(*this, half)) {
      serve(half);
    } else {
      serve(half & 0x00FF00FF);
      serve(half & 0xFF00FF00);
    }
  }
}

uint32_t Pattern::count_sectors(uint64_t base) const {
  const int64_t phase = int64_t(base & (kSectorBytes - 1));
  const int64_t granule_bytes = int64_t{1} << granule_shift;
  int64_t last_sector = INT64_MIN;
  uint32_t count = 0;
  for (const Run& run : runs) {
    const int64_t from = phase + run.granule * granule_bytes;
    const int64_t to = from + run.count * granule_bytes - 1;
    const int64_t first = std::max(from >> 5, last_sector + 1);
    if ((to >> 5) < first) continue;
    count += uint32_t((to >> 5) - first + 1);
    last_sector = to >> 5;
  }
  sectors_by_phase_[base & 31] = uint8_t(count);
  return count;
}

const Pattern* PatternCache::get(uint32_t mask, uint8_t bytes, uint8_t granule_shift,
                                 const int32_t* delta, Pattern* scratch) {
  uint64_t hash = mask * 0x9E3779B97F4A7C15 + bytes * 64 + granule_shift;
  for (int i = 0; i < kLanes; i += 2) {
    uint64_t two;
    std::memcpy(&two, delta + i, 8);
    hash = (hash ^ two) * 0xFF51AFD7ED558CCD;
    hash ^= hash >> 29;
  }
  auto same = [&](const Pattern& p) {
    return p.mask == mask && p.bytes == bytes && p.granule_shift == granule_shift &&
           std::memcmp(p.delta.data(), delta, sizeof p.delta) == 0;
  };
  size_t slot = hash % kTableSize;
  while (table_[slot] != nullptr) {
    if (same(*table_[slot])) return table_[slot];
    slot = (slot + 1) % kTableSize;
  }
  Pattern* pattern = scratch;
  if (!full()) {
    pattern = &patterns_.emplace_back();
    table_[slot] = pattern;
  }
  pattern->mask = mask;
  pattern->bytes = bytes;
  pattern->granule_shift = granule_shift;
  std::memcpy(pattern->delta.data(), delta, sizeof pattern->delta);
  pattern->build();
  return pattern;
}

void PatternCache::clear() {
  patterns_.clear();
  std::fill(table_.begin(), table_.end(), nullptr);
}

}  // namespace warpsim
