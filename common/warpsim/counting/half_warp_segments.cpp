// Compute capability 1.2 and 1.3 (CUDA C programming guide 3.0, "Global memory"). The two halves of
// a warp are served one after the other, whatever the width of the words. For each half:
//
//   1. take the 128-byte segment that holds the address of the lowest active lane not served yet;
//   2. all active lanes whose address lies in it are served with it;
//   3. only one half of it used: move 64 bytes instead; of those only one half used: move 32;
//   4. repeat until all lanes are served.
//
// The guide starts from smaller segments for words of 1 byte (32) and 2 bytes (64).

#include "warpsim/counting/useful_bytes.h"

namespace warpsim {

namespace {

uint32_t largest_transaction(uint32_t word_bytes) {
  return word_bytes == 1 ? 32 : word_bytes == 2 ? 64 : kSegmentBytes;
}

// Adds the transactions of one size-`bytes` piece at `first` of the segment, made as small as step
// 3 allows.
void add_piece(const SegmentBytes& used, uint32_t first, uint32_t bytes, Traffic* traffic) {
  auto any = [&](uint32_t from, uint32_t count) {
    for (uint32_t b = from; b < from + count; ++b) {
      if (used[b]) return true;
    }
    return false;
  };
  if (!any(first, bytes)) return;
  while (bytes > 32) {
    const uint32_t half = bytes / 2;
    const bool lower = any(first, half), upper = any(first + half, half);
    if (lower && upper) break;
    if (upper) first += half;
    bytes = half;
  }
  ++traffic->transactions[bytes == 32 ? 0 : bytes == 64 ? 1 : 2];
  uint32_t useful = 0;
  for (uint32_t b = first; b < first + bytes; ++b) useful += used[b];
  traffic->used_128ths = uint16_t(traffic->used_128ths + useful * (128 / bytes));
}

}  // namespace

Traffic half_warp_segments(const WarpAccess& access) {
  Traffic traffic;
  const uint32_t largest = largest_transaction(access.bytes);
  for (uint32_t half : {0x0000FFFFu, 0xFFFF0000u}) {
    uint32_t unserved = access.mask & half;
    while (unserved != 0) {
      const uint64_t segment = access.address[size_t(std::countr_zero(unserved))] / kSegmentBytes;
      const uint32_t served = lanes_in_segment(access, unserved, segment);
      const SegmentBytes used = useful_bytes(access, served);
      for (uint32_t at = 0; at < kSegmentBytes; at += largest)
        add_piece(used, at, largest, &traffic);
      unserved &= ~served;
    }
  }
  return traffic;
}

}  // namespace warpsim
