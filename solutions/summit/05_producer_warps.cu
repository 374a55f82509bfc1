// Rung 05, producer warps: a warpgroup that only loads, so that no multiplying warp ever waits to
// refill a stage.
//
// Registers are dealt out per warpgroup: the kernel starts with 168 for each of its 384 threads;
// the producers give back all but 24, the two consumer warpgroups take 240.
// New against rung 04: who fills the stages. Everything else is the same.
#include "common/operands.h"
#include "common/tile.cuh"

namespace summit {
namespace {

constexpr int STAGES = 4;
constexpr int THREADS = CONSUMERS + 128;
constexpr int SHARED_BYTES = STAGES * STAGE_BYTES + STAGES * 16;

__global__ void __launch_bounds__(THREADS, 1)
    producer_warps(const __grid_constant__ CUtensorMap M, const __grid_constant__ CUtensorMap N,
                   float* __restrict__ P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char shared[];
  uint32_t base = shared_address(shared);
  uint32_t full = base + STAGES * STAGE_BYTES;
  uint32_t empty = full + STAGES * 8;
  int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
  int stages = (k + BK - 1) / BK;

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      barrier_init(full + s * 8, 1);
      barrier_init(empty + s * 8, CONSUMERS / 32);
    }
    barrier_fence();
  }
  __syncthreads();  // the barriers exist; from here on the roles part for good

  if (threadIdx.x >= CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x != CONSUMERS) return;
    for (int s = 0; s < stages; ++s) {
      uint32_t stage = base + s % STAGES * STAGE_BYTES, barrier = full + s % STAGES * 8;
      if (s >= STAGES) barrier_wait(empty + s % STAGES * 8, (s / STAGES - 1) & 1);
      barrier_expect(barrier, STAGE_BYTES);
      copy_box(stage, &M, s * BK, first_row, barrier);
      copy_box(stage + MDS_BYTES, &N, first_col, s * BK, barrier);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    Place place(threadIdx.x);
    float sum[TM][TN];
    clear(sum);
    for (int s = 0; s < stages; ++s) {
      barrier_wait(full + s % STAGES * 8, s / STAGES & 1);
      uint32_t stage = base + s % STAGES * STAGE_BYTES;
      multiply_stage(sum, place.m(stage), place.n(stage));
      __syncwarp();
      if (threadIdx.x % 32 == 0) barrier_arrive(empty + s % STAGES * 8);
    }
    store_tile(P, first_row, first_col, place, j, l, sum);
  }
}

}  // namespace

void launch_05(const Problem& p, cudaStream_t stream) {
  Operands operands(p, stream);
  dim3 grid(ceil_div(p.l, BN), ceil_div(p.j, BM));
  allow_shared(producer_warps, SHARED_BYTES);
  producer_warps<<<grid, THREADS, SHARED_BYTES, stream>>>(operands.maps.m, operands.maps.n, p.P,
                                                          p.j, p.k, p.l);
  check(cudaGetLastError(), "launch of rung 05");
}

}  // namespace summit
