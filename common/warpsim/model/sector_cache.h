// A set-associative cache of 128-byte lines whose 32-byte sectors are filled one by one, and the
// time at which each of them is there. Least recently used line goes first.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace warpsim {

class SectorCache {
 public:
  explicit SectorCache(double bytes) {
    sets_ = 1;
    while (double(sets_) * 2 * kWays * 128 <= bytes) sets_ *= 2;
    // What a power of two of sets leaves over goes into more ways.
    ways_ = bytes < 128 * kWays ? 0 : uint32_t(bytes / 128 / double(sets_));
    lines_.resize(size_t{sets_} * ways_);
  }

  struct Line {
    uint64_t tag = ~uint64_t{0};
    uint64_t used = 0;
    std::array<double, 4> ready{-1, -1, -1, -1};  // cycle at which the sector is there, -1: never
  };

  // The line, after it has taken the place of another if it was not there. nullptr: no cache.
  Line* touch(uint64_t tag) {
    if (ways_ == 0) return nullptr;
    Line* const set = &lines_[size_t(hash(tag) & (sets_ - 1)) * ways_];
    Line* oldest = set;
    for (Line* line = set; line != set + ways_; ++line) {
      if (line->tag == tag) {
        line->used = ++clock_;
        return line;
      }
      if (line->used < oldest->used) oldest = line;
    }
    *oldest = Line{};
    oldest->tag = tag;
    oldest->used = ++clock_;
    return oldest;
  }

 private:
  static constexpr uint32_t kWays = 16;
  static uint64_t hash(uint64_t tag) { return tag ^ tag >> 7 ^ tag >> 13; }
  uint32_t sets_ = 1, ways_ = 0;
  uint64_t clock_ = 0;
  std::vector<Line> lines_;
};

}  // namespace warpsim
