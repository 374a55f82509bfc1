#include "warpsim/sample/region.h"

#include <algorithm>

namespace warpsim::sample {

namespace {

using Wide = __int128;

Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return q * b != a && ((a < 0) != (b < 0)) ? q - 1 : q;
}
Wide ceil_div(Wide a, Wide b) {
  return -floor_div(-a, b);
}

// c . (block - centre)
Wide offset(const Vector& c, const BlockIndex& block, const BlockIndex& centre) {
  Wide sum = 0;
  for (size_t i = 0; i < 3; ++i) sum += Wide{c[i]} * (int64_t{block[i]} - int64_t{centre[i]});
  return sum;
}

}  // namespace

Cover::Cover(const BlockIndex& grid, const Distinctions& distinctions)
    : grid_(grid),
      distinctions_(distinctions),
      blocks_(uint64_t{grid[0]} * grid[1] * grid[2]),
      free_(blocks_),
      taken_((blocks_ + 63) / 64, 0) {
  for (const Phase& phase : distinctions.phases) {
    const auto own = uint64_t(phase.modulus / std::gcd(phase.c[0], phase.modulus));
    period_ = std::min<uint64_t>(std::lcm(period_, own), uint64_t{1} << 32);
  }
}

std::optional<uint64_t> Cover::first_free() {
  while (cursor_ < blocks_ && !is_free(cursor_)) ++cursor_;
  return cursor_ < blocks_ ? std::optional(cursor_) : std::nullopt;
}

bool Cover::contains(const Region& region, const BlockIndex& block) const {
  for (size_t f = 0; f < distinctions_.forms.size(); ++f) {
    const Wide at = offset(distinctions_.forms[f], block, region.centre);
    if (at < region.intervals[f].low || at > region.intervals[f].high) return false;
  }
  return std::all_of(distinctions_.phases.begin(), distinctions_.phases.end(), [&](const Phase& p) {
    return offset(p.c, block, region.centre) % p.modulus == 0;
  });
}

uint64_t Cover::add(const Region& region) {
  uint64_t fresh = 0;
  for (uint32_t z = 0; z < grid_[2]; ++z) {
    for (uint32_t y = 0; y < grid_[1]; ++y) fresh += add_row(region, y, z);
  }
  free_ -= fresh;
  return fresh;
}

// The intervals leave a range of x; the phases one residue of x, or none.
uint64_t Cover::add_row(const Region& region, uint32_t y, uint32_t z) {
  Wide first = 0, last = Wide{grid_[0]} - 1;
  for (size_t f = 0; f < distinctions_.forms.size(); ++f) {
    const Vector& c = distinctions_.forms[f];
    const Interval& i = region.intervals[f];
    const Wide at_zero = offset(c, {0, y, z}, region.centre);
    const Wide low = i.low - at_zero, high = i.high - at_zero;  // of c[0] * x
    if (c[0] == 0) {
      if (low > 0 || high < 0) return 0;
    } else if (c[0] > 0) {
      first = std::max(first, ceil_div(low, c[0]));
      last = std::min(last, floor_div(high, c[0]));
    } else {
      first = std::max(first, ceil_div(high, c[0]));
      last = std::min(last, floor_div(low, c[0]));
    }
  }
  if (first > last) return 0;
  auto in_phase = [&](Wide x) {
    return std::all_of(distinctions_.phases.begin(), distinctions_.phases.end(),
                       [&](const Phase& p) {
                         return offset(p.c, {uint32_t(x), y, z}, region.centre) % p.modulus == 0;
                       });
  };
  const Wide search_end = std::min(last, first + Wide{period_} - 1);
  while (first <= search_end && !in_phase(first)) ++first;
  if (first > search_end) return 0;
  uint64_t fresh = 0;
  const uint64_t row = (uint64_t{z} * grid_[1] + y) * grid_[0];
  for (uint64_t x = uint64_t(first); x <= uint64_t(last); x += period_) {
    uint64_t& word = taken_[(row + x) / 64];
    const uint64_t bit = uint64_t{1} << ((row + x) % 64);
    fresh += (word & bit) == 0;
    word |= bit;
  }
  return fresh;
}

}  // namespace warpsim::sample
