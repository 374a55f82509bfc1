// How rung 08 cuts stages into shares; the same arithmetic on host and device.
#pragma once

namespace summit {

// First stage of share s, 0 <= s <= shares, of `total` stages; share_begin(shares) is total. The
// first total % shares shares have one stage more than the others.
__host__ __device__ inline int share_begin(int s, int total, int shares) {
  int more = total % shares;
  return s * (total / shares) + (s < more ? s : more);
}

// The share that holds this stage, 0 <= stage < total. Needs shares <= total.
__host__ __device__ inline int share_of(int stage, int total, int shares) {
  int each = total / shares, longer = total % shares * (each + 1);  // stages in the longer shares
  return stage < longer ? stage / (each + 1) : total % shares + (stage - longer) / each;
}

}  // namespace summit
