// Rung 06, a straight block: rung 05 with its control gathered at the border of stages.
//
// What remains in the inner loop is 8 steps of k without a branch, and the next stage's first
// values are loaded before this stage's last are used, so a warp does not pause at the border.
// New against rung 05: common/straight_loop.cuh. By itself it gains little: ptxas orders the block
// as it likes. It is the shape that rung 07 needs, and the source of rung 07: schedule.py takes
// this kernel's machine code.
#include "common/operands.h"
#include "common/straight_loop.cuh"

using namespace summit;

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    straight_block(const __grid_constant__ Maps maps, float* __restrict__ P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Ring ring{shared_address(shared)};
  int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
  int stages = (k + BK - 1) / BK;

  if (threadIdx.x == 0) ring.init();
  __syncthreads();  // the barriers exist; from here on the roles part for good

  Cursor cursor;
  if (threadIdx.x >= CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == CONSUMERS) produce(ring, cursor, maps, first_row, first_col, 0, stages);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float sum[TM][TN];
    clear(sum);
    consume(ring, cursor, stages, last_stage_bytes(k, 0, stages), sum);
    Place place(threadIdx.x);
    store_tile(P, first_row, first_col, place, j, l, sum);
  }
}

#ifndef SUMMIT_DEVICE_ONLY  // rung 07 compiles the kernel alone
void summit::launch_06(const Problem& p, cudaStream_t stream) {
  constexpr int kSharedBytes = STAGES * (STAGE_BYTES + 16);
  Operands operands(p, stream);
  dim3 grid(ceil_div(p.l, BN), ceil_div(p.j, BM));
  allow_shared(straight_block, kSharedBytes);
  straight_block<<<grid, THREADS, kSharedBytes, stream>>>(operands.maps, p.P, p.j, p.k, p.l);
  check(cudaGetLastError(), "launch of rung 06");
}
#endif
