// The shape of one warp access: where its lanes go relative to the first active one.
//
// A kernel uses few shapes again and again while only the base address moves, so everything that
// follows from the shape alone is worked out once: how far it reaches, which words it touches, its
// bank conflicts, and how the data can be moved in runs.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "warpsim/counting/rules.h"
#include "warpsim/lanes.h"

namespace warpsim {

// How the 16 lanes of one half of the warp lie, for moving 4-byte elements.
enum class HalfShape : uint8_t { kOther, kOneWord, kConsecutive };

// Requests to shared memory whose cost may differ for the same lanes.
enum class BankKind : uint8_t { kLoad, kLoad8, kLoad16, kStore, kStore8, kStore16 };
inline constexpr size_t kBankKinds = 6;
// `bytes` per lane; up to 4 bytes make no difference.
inline BankKind bank_kind(bool is_store, uint32_t bytes) {
  const int width = bytes == 16 ? 2 : bytes == 8 ? 1 : 0;
  return BankKind((is_store ? 3 : 0) + width);
}

struct Pattern {
  const CountingRules* rules = &counting_rules(CountingRule::kSectors);  // set before build()

  // What identifies it.
  uint32_t mask = 0;          // active lanes, not 0
  uint8_t bytes = 0;          // per lane: 1, 2, 4, 8, 16
  uint8_t granule_shift = 2;  // the shadow has one record per 2^shift bytes
  // Bytes from the first active lane's address; 0 for inactive lanes.
  alignas(64) std::array<int32_t, kLanes> delta{};

  // What follows from it.
  int32_t lowest = 0;         // smallest delta
  uint32_t span_bytes = 0;    // from the lowest byte to one past the highest
  bool aligned = true;        // every delta is a multiple of `bytes`
  bool overlapping = false;   // two lanes touch one granule
  bool halves_ready = false;  // all lanes active, 4 bytes, both halves kOneWord or kConsecutive
  std::array<HalfShape, 2> half{};

  // The granules touched, in ascending order, in runs of neighbours. Granule numbers are relative
  // to the base's.
  struct Run {
    int32_t granule;
    uint16_t count;
    uint16_t first;  // index into `who`
    bool in_order;   // lane after lane, each with as many granules as `bytes` are
  };
  std::vector<Run> runs;
  // Per granule: the lane that touches it; the lowest | kSeveral when several do.
  static constexpr uint32_t kSeveral = 1u << 10;
  std::vector<uint32_t> who;
  std::vector<uint32_t> second;  // another lane that touches it where several do, else the same

  int lanes() const { return __builtin_popcount(mask); }
  // Distinct 32-byte sectors of a request whose first active lane is at `base`.
  uint32_t sectors(uint64_t base) const {
    const uint8_t known = sectors_by_phase_[base & 31];
    return known != 0 ? known : count_sectors(base);
  }
  // sectors() by the lowest five bits of the base, for any base that is a multiple of the lanes'
  // bytes.
  const uint8_t* all_sectors() const {
    for (uint32_t phase = 0; phase < 32; phase += bytes) sectors(phase);
    return sectors_by_phase_.data();
  }
  // Its transactions, for rules that have any.
  const Traffic& traffic(uint64_t base) const {
    if (traffic_by_phase_ != nullptr) {
      const Traffic& known = (*traffic_by_phase_)[base & 127];
      if (known.count() != 0) return known;
    }
    return count_traffic(base);
  }
  // Of a request to shared memory by these lanes, which may be for more bytes per lane than the
  // pattern's: loads that ptxas has merged.
  const BankCost& banks(BankKind kind) const {
    const BankCost& known = banks_[size_t(kind)];
    return known.wavefronts != 0 ? known : count_banks(kind);
  }
  void build();  // from mask, bytes, granule_shift, delta

 private:
  void build_runs();
  void build_halves();
  // The lanes' addresses as far as counting rules care: all of them look at blocks of at most 128
  // bytes.
  WarpAccess access(uint64_t base) const;
  uint32_t count_sectors(uint64_t base) const;
  const Traffic& count_traffic(uint64_t base) const;
  const BankCost& count_banks(BankKind kind) const;
  mutable std::array<BankCost, kBankKinds> banks_{};  // 0 wavefronts: not counted yet
  // 0: not counted yet; a request has at most 2 * 32 sectors.
  mutable std::array<uint8_t, 32> sectors_by_phase_{};
  mutable std::unique_ptr<std::array<Traffic, 128>> traffic_by_phase_;  // count 0: not counted yet
};

// The patterns a worker has met. Pointers stay valid until clear().
class PatternCache {
 public:
  explicit PatternCache(const CountingRules& rules) : rules_(rules) {}
  // The pattern of these lanes. `scratch` holds it when the cache is full.
  const Pattern* get(uint32_t mask, uint8_t bytes, uint8_t granule_shift, const int32_t* delta,
                     Pattern* scratch);
  bool full() const { return patterns_.size() >= kCapacity; }
  void clear();

 private:
  static constexpr size_t kCapacity = 4096;
  void grow();
  const CountingRules& rules_;
  std::deque<Pattern> patterns_;
  // By hash; a power of two. It grows: most launches meet few patterns, and each begins with a new
  // cache.
  std::vector<Pattern*> table_;
};

}  // namespace warpsim
