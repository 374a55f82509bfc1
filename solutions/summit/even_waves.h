// How rung 08 cuts k into shares, and its shared memory; the same arithmetic on host and device.
#pragma once

namespace summit {

// A worker's ring of stages, barriers, and its desk, to the next 1024 bytes. Behind all rings there
// is a strip for each warp.
constexpr int kDeskBytes = 64, kStripBytes = 2560;
constexpr int even_waves_ring_bytes(int stages, int stage_bytes) {
  return (stages * (stage_bytes + 16) + kDeskBytes + 1023) / 1024 * 1024;
}

// First unit of share s, 0 <= s <= shares, of `total` units; share_begin(shares) is total. The
// first total % shares shares have one unit more than the others.
__host__ __device__ inline int share_begin(int s, int total, int shares) {
  int more = total % shares;
  return s * (total / shares) + (s < more ? s : more);
}

// The share that holds this unit, 0 <= unit < total. Needs shares <= total.
__host__ __device__ inline int share_of(int unit, int total, int shares) {
  int each = total / shares, longer = total % shares * (each + 1);  // units in the longer shares
  return unit < longer ? unit / (each + 1) : total % shares + (unit - longer) / each;
}

}  // namespace summit
