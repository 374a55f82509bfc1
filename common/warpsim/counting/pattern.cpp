#include "warpsim/counting/pattern.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "warpsim/lanes.h"

namespace warpsim {

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
  traffic_by_phase_.reset();
  build_runs();
  build_halves();
  banks_.fill({});
}

namespace {

// Different numbers; each goes behind as many as are less, and no comparison waits for another.
void sort_of_lanes(uint64_t* numbers) {
  std::array<uint64_t, kLanes> sorted;
  for (int i = 0; i < kLanes; ++i) {
    uint64_t less = 0;
    for (int k = 0; k < kLanes; ++k) less += uint64_t{numbers[k] < numbers[i]};
    sorted[less] = numbers[i];
  }
  std::copy(sorted.begin(), sorted.end(), numbers);
}

}  // namespace

void Pattern::build_runs() {
  // In one number each, as most are out of order only now and then: granule, then lane.
  std::array<uint64_t, kLanes * 16> touches;
  constexpr uint32_t kBias = uint32_t{1} << 31;  // so that negative granules come first
  size_t count = 0;
  bool in_order = true;
  for_each_lane(mask, [&](int lane) {
    const int32_t first = delta[lane] >> granule_shift;
    const int32_t last = (delta[lane] + bytes - 1) >> granule_shift;
    for (int32_t g = first; g <= last; ++g) {
      touches[count] = uint64_t{uint32_t(g) ^ kBias} << 32 | uint32_t(lane);
      in_order &= count == 0 || touches[count - 1] < touches[count];
      ++count;
    }
  });
  if (!in_order && count == kLanes)
    sort_of_lanes(touches.data());
  else if (!in_order)
    std::sort(touches.begin(), touches.begin() + count);
  runs.clear();
  who.clear();
  second.clear();
  who.reserve(count);
  second.reserve(count);
  overlapping = false;
  int64_t before = INT64_MIN;
  const int of_lane =
      bytes >> granule_shift > 1 ? std::countr_zero(uint32_t{bytes}) - granule_shift : 0;
  for (size_t i = 0; i < count; ++i) {
    const int32_t granule = int32_t(uint32_t(touches[i] >> 32) ^ kBias);
    const auto lane = uint32_t(touches[i]);
    if (granule == before) {
      who.back() |= kSeveral;
      second.back() = lane;
      overlapping = true;
      continue;
    }
    if (granule == before + 1) {
      Run& run = runs.back();
      run.in_order &= lane == (who[run.first] & (kLanes - 1)) + uint32_t(run.count >> of_lane);
      ++run.count;
    } else {
      runs.push_back({granule, 1, uint16_t(who.size()), true});
    }
    before = granule;
    who.push_back(lane);
    second.push_back(lane);
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

WarpAccess Pattern::access(uint64_t base) const {
  constexpr uint64_t kOrigin = uint64_t{1} << 40;  // so that no address is negative
  WarpAccess access{mask, bytes, {}};
  for_each_lane(mask, [&](int lane) {
    access.address[size_t(lane)] = kOrigin + (base & 127) + uint64_t(int64_t{delta[size_t(lane)]});
  });
  return access;
}

uint32_t Pattern::count_sectors(uint64_t base) const {
  return sectors_by_phase_[base & 31] = uint8_t(warpsim::sectors(access(base)));
}

const BankCost& Pattern::count_banks(BankKind kind) const {
  WarpAccess lanes = access(0);  // the base, a multiple of 4, changes no conflict
  lanes.is_store = kind >= BankKind::kStore;
  const int width = int(kind) % 3;
  lanes.bytes = width != 0 ? 4u << width : std::min(lanes.bytes, 4u);
  return banks_[size_t(kind)] = rules->banks(lanes);
}

const Traffic& Pattern::count_traffic(uint64_t base) const {
  if (traffic_by_phase_ == nullptr)
    traffic_by_phase_ = std::make_unique<std::array<Traffic, 128>>();
  return (*traffic_by_phase_)[base & 127] = rules->traffic(access(base));
}

namespace {

// In four chains, none of which waits for another.
uint64_t hash_of(uint32_t mask, uint8_t bytes, uint8_t granule_shift, const int32_t* delta) {
  constexpr uint64_t kFactor = 0xFF51AFD7ED558CCD;
  uint64_t hash[4] = {mask, uint64_t{bytes} * 64 + granule_shift, 0, 0};
  for (int i = 0; i < kLanes; i += 8) {
    for (int k = 0; k < 4; ++k) {
      uint64_t two;
      std::memcpy(&two, delta + i + 2 * k, 8);
      hash[k] = (hash[k] ^ two) * kFactor;
      hash[k] ^= hash[k] >> 29;
    }
  }
  uint64_t all = hash[0];
  for (int k = 1; k < 4; ++k) {
    all = (all ^ hash[k]) * kFactor;
    all ^= all >> 29;
  }
  return all;
}

}  // namespace

// At most a fourth of the table is in use.
void PatternCache::grow() {
  constexpr size_t kLeast = 256;
  const size_t size = std::max(kLeast, 4 * table_.size());
  table_.assign(size, nullptr);
  for (Pattern& p : patterns_) {
    size_t slot = hash_of(p.mask, p.bytes, p.granule_shift, p.delta.data()) & (size - 1);
    while (table_[slot] != nullptr) slot = (slot + 1) & (size - 1);
    table_[slot] = &p;
  }
}

const Pattern* PatternCache::get(uint32_t mask, uint8_t bytes, uint8_t granule_shift,
                                 const int32_t* delta, Pattern* scratch) {
  if (4 * patterns_.size() >= table_.size() && !full()) grow();
  const uint64_t hash = hash_of(mask, bytes, granule_shift, delta);
  auto same = [&](const Pattern& p) {
    return p.mask == mask && p.bytes == bytes && p.granule_shift == granule_shift &&
           std::memcmp(p.delta.data(), delta, sizeof p.delta) == 0;
  };
  const size_t last = table_.size() - 1;
  size_t slot = hash & last;
  while (table_[slot] != nullptr) {
    if (same(*table_[slot])) return table_[slot];
    slot = (slot + 1) & last;
  }
  Pattern* pattern = scratch;
  if (!full()) {
    pattern = &patterns_.emplace_back();
    table_[slot] = pattern;
  }
  pattern->rules = &rules_;
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
