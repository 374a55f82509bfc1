// Rung 04, the copy engine: one thread asks for whole tiles, mbarriers say when they are there.
//
// In rung 03 every thread computes addresses, starts twelve copies a stage and meets all others at
// two points of __syncthreads. Here thread 0 starts two copies a stage (a box of M, a box of N);
// a `full` barrier per stage counts the bytes that have arrived, an `empty` barrier the warps that
// have finished reading. Warps no longer wait for each other, only for data.
// New against rung 03: the copies and the barriers. The arithmetic is the same code.
#include "common/operands.h"
#include "common/tile.cuh"

namespace summit {
namespace {

constexpr int STAGES = 4;
constexpr int SHARED_BYTES = STAGES * STAGE_BYTES + STAGES * 16;

__global__ void __launch_bounds__(CONSUMERS, 1)
    tma_pipeline(const __grid_constant__ CUtensorMap M, const __grid_constant__ CUtensorMap N,
                 float* __restrict__ P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char shared[];
  uint32_t base = shared_address(shared);
  uint32_t full = base + STAGES * STAGE_BYTES;  // one 8-byte barrier per stage
  uint32_t empty = full + STAGES * 8;

  Place place(threadIdx.x);
  int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
  int stages = (k + BK - 1) / BK;

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      barrier_init(full + s * 8, 1);
      barrier_init(empty + s * 8, CONSUMERS / 32);
    }
    barrier_fence();
  }
  __syncthreads();  // the barriers exist

  auto fill = [&](int s) {  // by thread 0: stage s of the product, into its place in the ring
    uint32_t stage = base + s % STAGES * STAGE_BYTES, barrier = full + s % STAGES * 8;
    barrier_expect(barrier, STAGE_BYTES);
    copy_box(stage, &M, s * BK, first_row, barrier);
    copy_box(stage + MDS_BYTES, &N, first_col, s * BK, barrier);
  };
  if (threadIdx.x == 0)
    for (int s = 0; s < STAGES - 1 && s < stages; ++s) fill(s);

  float sum[TM][TN];
  clear(sum);
  for (int s = 0; s < stages; ++s) {
    int next = s + STAGES - 1;
    if (threadIdx.x == 0 && next < stages) {
      // Place next % STAGES was read last in round next / STAGES - 1.
      if (next >= STAGES) barrier_wait(empty + next % STAGES * 8, (next / STAGES - 1) & 1);
      fill(next);
    }
    __syncwarp();
    barrier_wait(full + s % STAGES * 8, s / STAGES & 1);
    uint32_t stage = base + s % STAGES * STAGE_BYTES;
    multiply_stage(sum, place.m(stage), place.n(stage));
    __syncwarp();  // the whole warp has read the stage
    if (threadIdx.x % 32 == 0) barrier_arrive(empty + s % STAGES * 8);
  }
  store_tile(P, first_row, first_col, place, j, l, sum);
}

}  // namespace

void launch_04(const Problem& p, cudaStream_t stream) {
  Operands operands(p, stream);
  dim3 grid(ceil_div(p.l, BN), ceil_div(p.j, BM));
  allow_shared(tma_pipeline, SHARED_BYTES);
  tma_pipeline<<<grid, CONSUMERS, SHARED_BYTES, stream>>>(operands.maps.m, operands.maps.n, p.P,
                                                          p.j, p.k, p.l);
  check(cudaGetLastError(), "launch of rung 04");
}

}  // namespace summit
