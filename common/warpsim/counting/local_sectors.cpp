// Local memory: word i of lane l lies at (i * 32 + l) * 4 of the warp's, so a sector is one word of
// 8 neighbouring lanes.

#include <algorithm>

#include "warpsim/counting/rules.h"
#include "warpsim/lanes.h"

namespace warpsim {

uint32_t local_sectors(const WarpAccess& access) {
  std::array<uint64_t, kLanes * 4> touched;
  size_t count = 0;
  for_each_lane(access.mask, [&](int lane) {
    const uint64_t first = access.address[size_t(lane)] / 4;
    const uint64_t last = (access.address[size_t(lane)] + access.bytes - 1) / 4;
    for (uint64_t word = first; word <= last; ++word)
      touched[count++] = word * 4 + uint64_t(lane) / 8;
  });
  std::sort(touched.begin(), touched.begin() + count);
  return uint32_t(std::unique(touched.begin(), touched.begin() + count) - touched.begin());
}

}  // namespace warpsim
