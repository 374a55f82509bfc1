// Compute capability 5.0 and later: the distinct 32-byte sectors that a warp's access touches
// (Nsight Compute: l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}).

#include <algorithm>

#include "warpsim/counting/rules.h"
#include "warpsim/lanes.h"

namespace warpsim {

uint32_t sectors(const WarpAccess& access) {
  std::array<uint64_t, 2 * kLanes> touched;
  size_t count = 0;
  for_each_lane(access.mask, [&](int lane) {
    const uint64_t address = access.address[size_t(lane)];
    for (const uint64_t sector : {address / 32, (address + access.bytes - 1) / 32}) {
      if (count == 0 || touched[count - 1] != sector) touched[count++] = sector;
    }
  });
  std::sort(touched.begin(), touched.begin() + count);
  return uint32_t(std::unique(touched.begin(), touched.begin() + count) - touched.begin());
}

}  // namespace warpsim
