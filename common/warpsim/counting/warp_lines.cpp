// Compute capability 2.x with the L1 cache enabled (CUDA C programming guide 4.0, "Global memory"):
// one transaction per distinct 128-byte line that a warp's access touches. Loads and stores are
// counted alike, and hits in L1 like misses. (The hardware issues accesses of 8 and 16 bytes by
// half and quarter warps; where those share a line it may ask for it once for each of them.)

#include "warpsim/counting/useful_bytes.h"

namespace warpsim {

Traffic warp_lines(const WarpAccess& access) {
  Traffic traffic;
  uint32_t unserved = access.mask;
  while (unserved != 0) {
    const uint64_t line = access.address[size_t(std::countr_zero(unserved))] / kSegmentBytes;
    const uint32_t served = lanes_in_segment(access, unserved, line);
    ++traffic.transactions[2];
    traffic.used_128ths = uint16_t(traffic.used_128ths + useful_bytes(access, served).count());
    unserved &= ~served;
  }
  return traffic;
}

}  // namespace warpsim
