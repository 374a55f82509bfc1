// Rung 03, warp tiles: twice the results per thread, and lanes placed so that loads broadcast well.
//
// 8 x 16 results per thread make 128 FFMAs for 24 words (rung 02: 64 for 16), so 95.5% of the
// inner loop's instructions can be FFMAs. A warp covers 64 x 64 results as 8 x 4 lanes, placed so
// that a 16-byte shared load costs 2 wavefronts (common/tile.cuh). The rows of M's tile are 128
// bytes without padding; swizzled chunks keep them free of bank conflicts.
// New against rung 02: the tile of common/tile.cuh, BK = 32, one block per multiprocessor.
#include "common/summit.h"
#include "common/tile.cuh"

namespace summit {
namespace {

constexpr int STAGES = 4;
constexpr int SHARED_BYTES = STAGES * STAGE_BYTES;  // 196608

template <int VEC>
__device__ void copy_stage(float* stage, const float* M, const float* N, int j, int k, int l,
                           int first_row, int first_col, int ph) {
  float* Mds = stage;
  float* Nds = stage + MDS_BYTES / 4;
#pragma unroll 8
  for (int e = threadIdx.x * VEC; e < BM * BK; e += CONSUMERS * VEC) {
    int r = e / BK, i = e % BK;
    int row = first_row + r, col = ph + i;
    bool inside = row < j && col < k;
    int place = r * BK + ((i / 4) ^ (r % 8)) * 4 + i % 4;
    copy_async<VEC * 4>(Mds + place, inside ? M + size_t(row) * k + col : M, inside);
  }
#pragma unroll 8
  for (int e = threadIdx.x * VEC; e < BK * BN; e += CONSUMERS * VEC) {
    int i = e / BN, c = e % BN;
    int row = ph + i, col = first_col + c;
    bool inside = row < k && col < l;
    copy_async<VEC * 4>(Nds + e, inside ? N + size_t(row) * l + col : N, inside);
  }
}

template <int VEC>
__global__ void __launch_bounds__(CONSUMERS, 1)
    warp_tiles(const float* __restrict__ M, const float* __restrict__ N, float* __restrict__ P,
               int j, int k, int l) {
  extern __shared__ __align__(1024) float shared[];  // [STAGES][STAGE_BYTES / 4]

  Place place(threadIdx.x);
  int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
  int stages = (k + BK - 1) / BK;

  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < stages)
      copy_stage<VEC>(shared + s * (STAGE_BYTES / 4), M, N, j, k, l, first_row, first_col, s * BK);
    copy_commit();
  }

  float sum[TM][TN];
  clear(sum);
  for (int s = 0; s < stages; ++s) {
    copy_wait<STAGES - 2>();
    __syncthreads();  // stage s is complete, and the one before it has been read by everyone
    int next = s + STAGES - 1;
    if (next < stages)
      copy_stage<VEC>(shared + next % STAGES * (STAGE_BYTES / 4), M, N, j, k, l, first_row,
                      first_col, next * BK);
    copy_commit();
    uint32_t stage = shared_address(shared) + s % STAGES * STAGE_BYTES;
    multiply_stage(sum, place.m(stage), place.n(stage));
  }
  store_tile(P, first_row, first_col, place, j, l, sum);
}

}  // namespace

void launch_03(const Problem& p, cudaStream_t stream) {
  dim3 grid(ceil_div(p.l, BN), ceil_div(p.j, BM));
  auto kernel =
      rows_are_aligned(p.M, p.k) && rows_are_aligned(p.N, p.l) ? warp_tiles<4> : warp_tiles<1>;
  allow_shared(kernel, SHARED_BYTES);
  kernel<<<grid, CONSUMERS, SHARED_BYTES, stream>>>(p.M, p.N, p.P, p.j, p.k, p.l);
  check(cudaGetLastError(), "launch of rung 03");
}

}  // namespace summit
