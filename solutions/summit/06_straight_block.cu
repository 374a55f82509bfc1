// Rung 06, a straight block: rung 04 with its control gathered at the border of stages.
//
// What remains in the inner loop is 8 steps of k without a branch, and the next stage's first
// values are loaded before this stage's last are used, so a warp does not pause at the border.
// New against rung 04: common/straight_loop.cuh. Measured, this alone gains little: ptxas orders
// the block as it likes. It is the shape that rung 07 needs, and the source of rung 07:
// schedule.py takes this kernel's machine code.
#include "common/operands.h"
#include "common/straight_loop.cuh"

using namespace summit;

extern "C" __global__ void __launch_bounds__(CONSUMERS, 1)
    straight_block(const __grid_constant__ CUtensorMap M, const __grid_constant__ CUtensorMap N,
                   float* __restrict__ P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Ring ring{shared_address(shared)};
  int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
  int stages = (k + BK - 1) / BK;

  if (threadIdx.x == 0) ring.init();
  __syncthreads();  // the barriers exist

  auto fill = [&](int s) {
    int at = s % STAGES;
    barrier_expect(ring.full(at), STAGE_BYTES);
    copy_box(ring.stage(at), &M, s * BK, first_row, ring.full(at));
    copy_box(ring.stage(at) + MDS_BYTES, &N, first_col, s * BK, ring.full(at));
  };
  if (threadIdx.x == 0)
    for (int s = 0; s < STAGES && s < stages; ++s) fill(s);

  float sum[TM][TN];
  clear(sum);
  straight_loop(sum, ring, stages, fill);
  Place place(threadIdx.x);
  store_tile(P, first_row + place.row, first_col + place.col, j, l, sum);
}

#ifndef SUMMIT_DEVICE_ONLY  // rung 07 compiles the kernel alone
void summit::launch_06(const Problem& p, cudaStream_t stream) {
  constexpr int kSharedBytes = STAGES * (STAGE_BYTES + 16);
  Operands operands(p, stream);
  dim3 grid(ceil_div(p.l, BN), ceil_div(p.j, BM));
  allow_shared(straight_block, kSharedBytes);
  straight_block<<<grid, CONSUMERS, kSharedBytes, stream>>>(operands.m, operands.n, p.P, p.j, p.k,
                                                            p.l);
  check(cudaGetLastError(), "launch of rung 06");
}
#endif
