// Step 4: the results of hard rows and columns (pieces.h), by FFMA as in rung 01.
//
// A tile of P without a hard row or column costs a look at the extents. Any other is computed anew
// in plain float32, so that infinities, NaN and ranges beyond the pieces come out as float32's do.
// Short sums that are added up in turn keep the error below that of one long sum.
#include "split.h"

namespace summit::split {
namespace {

constexpr int TILE = 128, BK = 8, THREADS = 256;  // 8 x 8 results per thread
constexpr int SECTION = 128;                      // steps of k that are added up by themselves

__global__ void __launch_bounds__(THREADS, 1) repair_tiles(Problem p, const Extent* extents) {
  __shared__ float Mds[BK][TILE + 4], Nds[BK][TILE];
  int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE, t = threadIdx.x;
  bool of_m = t < TILE;
  int at = of_m ? first_row + t : first_col + t - TILE;
  bool hard = at < (of_m ? p.j : p.l) && is_hard(extents[of_m ? at : p.j + at]);
  if (!__syncthreads_or(hard)) return;

  int ty = t / 16, tx = t % 16;
  float sum[8][8] = {}, total[8][8] = {};
  for (int ph = 0; ph < p.k; ph += BK) {
#pragma unroll
    for (int e = t; e < TILE * BK; e += THREADS) {
      int r = e / BK, i = e % BK, row = first_row + r, col = ph + i;
      Mds[i][r] = row < p.j && col < p.k ? p.M[size_t(row) * p.k + col] : 0.0f;
      int c = e % TILE;
      i = e / TILE, row = ph + i, col = first_col + c;
      Nds[i][c] = row < p.k && col < p.l ? p.N[size_t(row) * p.l + col] : 0.0f;
    }
    __syncthreads();
    int steps = min(BK, p.k - ph);  // 0 x 0 behind k adds nothing to a NaN or an infinity either
    for (int i = 0; i < steps; ++i)
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int c = 0; c < 8; ++c)
          sum[r][c] = fmaf(Mds[i][ty + r * 16], Nds[i][tx + c * 16], sum[r][c]);
    if ((ph + BK) % SECTION == 0 || ph + BK >= p.k)
#pragma unroll
      for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int c = 0; c < 8; ++c) total[r][c] += sum[r][c], sum[r][c] = 0;
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 8; ++r)
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      int row = first_row + ty + r * 16, col = first_col + tx + c * 16;
      if (row < p.j && col < p.l) p.P[size_t(row) * p.l + col] = total[r][c];
    }
}

}  // namespace

void repair(const Problem& p, const Extent* extents, cudaStream_t stream) {
  repair_tiles<<<dim3(ceil_div(p.l, TILE), ceil_div(p.j, TILE)), THREADS, 0, stream>>>(p, extents);
  check(cudaGetLastError(), "repair");
}

}  // namespace summit::split
