// The blocks of a grid that are certain to behave like one that was executed.
//
// A block that was executed leaves, for every linear form of the block index that decided anything,
// the interval in which all those decisions come out the same; and every address, remainder or
// shift demands that a form keep its value modulo something. The blocks within all intervals and of
// the same phases do the same: same path, same sectors, same bank conflicts.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "warpsim/sample/linear.h"

namespace warpsim::sample {

using BlockIndex = std::array<uint32_t, 3>;

// Of the value of a form relative to the executed block.
struct Interval {
  int64_t low = INT64_MIN, high = INT64_MAX;
  void keep(__int128 from, __int128 to) {
    constexpr __int128 kLargest = INT64_MAX, kSmallest = INT64_MIN;
    if (from > low) low = int64_t(from < kLargest ? from : kLargest);
    if (to < high) high = int64_t(to > kSmallest ? to : kSmallest);
  }
};

// c . blockIdx must be the same modulo `modulus`.
struct Phase {
  Vector c{};
  int64_t modulus = 1;
  bool operator==(const Phase&) const = default;
};

// What distinguishes the blocks of one kernel, launched with given arguments.
struct Distinctions {
  std::vector<Vector> forms;
  std::vector<Phase> phases;
};

struct Region {
  BlockIndex centre{};              // the executed block
  std::vector<Interval> intervals;  // per form
};

// Which blocks of a grid are spoken for.
class Cover {
 public:
  static constexpr uint64_t kMaxBlocks = uint64_t{1} << 28;  // a bit each

  Cover(const BlockIndex& grid, const Distinctions& distinctions);
  // The first block that belongs to no region yet, empty when all do.
  std::optional<uint64_t> first_free();
  bool is_free(uint64_t block) const { return !(taken_[block / 64] >> (block % 64) & 1); }
  uint64_t free_blocks() const { return free_; }
  // Marks the region's blocks; how many of them were free.
  uint64_t add(const Region& region);
  bool contains(const Region& region, const BlockIndex& block) const;

 private:
  uint64_t add_row(const Region& region, uint32_t y, uint32_t z);

  BlockIndex grid_;
  const Distinctions& distinctions_;
  uint64_t blocks_, free_, cursor_ = 0;
  uint64_t period_ = 1;  // along x, after which all phases repeat
  std::vector<uint64_t> taken_;
};

}  // namespace warpsim::sample
