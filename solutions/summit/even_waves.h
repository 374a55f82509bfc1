// How rung 08 cuts stages into shares; the same arithmetic on host and device.
#pragma once

namespace summit {

// First stage of share s, 0 <= s <= shares, of `total` stages; share_begin(shares) is total.
__host__ __device__ inline int share_begin(int s, long long total, int shares) {
  return int(s * total / shares);
}

// The share that holds this stage, 0 <= stage < total. Needs shares <= total.
__host__ __device__ inline int share_of(int stage, long long total, int shares) {
  int s = int(stage * (long long)shares / total);
  while (share_begin(s + 1, total, shares) <= stage) ++s;  // the division rounds down
  return s;
}

}  // namespace summit
