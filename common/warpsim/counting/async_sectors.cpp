// cp.async.cg, which brings data past the first-level cache (compute capability 8.0 and later). It
// asks for a sector per line of 128 bytes that it reads and piece of 32 bytes that it writes of it:
// rows that lie aligned in global memory but not in shared memory ask for more than they read.
//
// Of lanes that write to one place only one copy is made. The last lane's is taken to be it; which
// one the hardware takes is not known.
//
// Measured on an H200 (docs/measurements/async-copy-sectors.md), from 8.0 on taken to hold.

#include <algorithm>

#include "warpsim/counting/rules.h"
#include "warpsim/lanes.h"

namespace warpsim {

uint32_t async_sectors(const WarpAccess& access, const std::array<uint32_t, 32>& target) {
  struct Copy {
    uint64_t line;
    uint32_t target;
  };
  std::array<Copy, kLanes> copies;
  size_t count = 0;
  bool ascending = true;
  for_each_lane(access.mask, [&](int lane) {
    const Copy copy{access.address[size_t(lane)] / 128, target[size_t(lane)]};
    ascending = ascending && (count == 0 || copies[count - 1].target < copy.target);
    copies[count++] = copy;
  });
  auto end = copies.begin() + count;
  if (!ascending) {
    std::stable_sort(copies.begin(), end,
                     [](const Copy& a, const Copy& b) { return a.target < b.target; });
    auto kept = copies.begin();
    for (auto at = copies.begin(); at != end; ++at) {  // the last of those with one target
      if (at + 1 == end || (at + 1)->target != at->target) *kept++ = *at;
    }
    end = kept;
  }
  // The copies of one piece now lie next to each other: at most two, of 16 bytes each.
  uint32_t sectors = 0;
  for (auto at = copies.begin(); at != end; ++at) {
    const bool again = at != copies.begin() && (at - 1)->line == at->line &&
                       (at - 1)->target / 32 == at->target / 32;
    sectors += !again;
  }
  return sectors;
}

}  // namespace warpsim
