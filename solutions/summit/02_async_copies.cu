// Rung 02, asynchronous copies: the tiles of the next phases travel while this one is computed.
//
// cp.async moves global memory to shared memory without passing through registers, so a block can
// have two phases on their way and a third in use. M keeps its own layout in shared memory, [r][i]:
// a thread then reads four steps of k with one 16-byte load, and no transposing store is needed.
// New against rung 01: three stages, BK = 16, copies of 16 bytes where rows are 16-byte aligned
// (k and l multiples of 4), of 4 bytes where they are not.
#include "common/ptx.cuh"
#include "common/summit.h"

namespace summit {
namespace {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int TM = 8, TN = 8;
constexpr int THREADS = (BM / TM) * (BN / TN);  // 256
constexpr int STAGES = 3;
// 80-byte rows: eight lanes that read 16 bytes of neighbouring rows meet all 32 banks once.
constexpr int M_STRIDE = BK + 4;
constexpr int STAGE_FLOATS = BM * M_STRIDE + BK * BN;
constexpr int SHARED_BYTES = STAGES * STAGE_FLOATS * 4;  // 55296

// VEC: floats per copy, 4 or 1. A copy that begins outside the matrix writes zeros; with VEC = 4
// sizes are multiples of 4, so no copy is half outside.
template <int VEC>
__device__ void copy_stage(float* stage, const float* M, const float* N, int j, int k, int l,
                           int first_row, int first_col, int ph) {
  float* Mds = stage;                  // [BM][M_STRIDE]
  float* Nds = stage + BM * M_STRIDE;  // [BK][BN]
#pragma unroll
  for (int e = threadIdx.x * VEC; e < BM * BK; e += THREADS * VEC) {
    int r = e / BK, i = e % BK;
    int row = first_row + r, col = ph + i;
    bool inside = row < j && col < k;
    copy_async<VEC * 4>(Mds + r * M_STRIDE + i, inside ? M + size_t(row) * k + col : M, inside);
  }
#pragma unroll
  for (int e = threadIdx.x * VEC; e < BK * BN; e += THREADS * VEC) {
    int i = e / BN, c = e % BN;
    int row = ph + i, col = first_col + c;
    bool inside = row < k && col < l;
    copy_async<VEC * 4>(Nds + i * BN + c, inside ? N + size_t(row) * l + col : N, inside);
  }
}

template <int VEC>
__global__ void __launch_bounds__(THREADS, 2)
    async_copies(const float* __restrict__ M, const float* __restrict__ N, float* __restrict__ P,
                 int j, int k, int l) {
  extern __shared__ __align__(16) float shared[];  // [STAGES][STAGE_FLOATS]

  int tx = threadIdx.x % 16;  // columns tx * 4 and 64 + tx * 4, four each
  int ty = threadIdx.x / 16;  // rows ty, ty + 16, ...: a warp reads two rows of M at a time
  int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
  int phases = (k + BK - 1) / BK;

  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < phases)
      copy_stage<VEC>(shared + s * STAGE_FLOATS, M, N, j, k, l, first_row, first_col, s * BK);
    copy_commit();  // also when empty, so that the count of groups stays in step with the phases
  }

  float sum[TM][TN] = {};
  for (int ph = 0; ph < phases; ++ph) {
    copy_wait<STAGES - 2>();  // this thread's copies of phase ph have arrived ...
    __syncthreads();          // ... and everyone's; and phase ph - 1 has been read by everyone
    if (ph + STAGES - 1 < phases)
      copy_stage<VEC>(shared + (ph + STAGES - 1) % STAGES * STAGE_FLOATS, M, N, j, k, l, first_row,
                      first_col, (ph + STAGES - 1) * BK);
    copy_commit();

    const float* Mds = shared + ph % STAGES * STAGE_FLOATS;
    const float* Nds = Mds + BM * M_STRIDE;
#pragma unroll
    for (int i4 = 0; i4 < BK; i4 += 4) {
      float4 m[TM];
#pragma unroll
      for (int r = 0; r < TM; ++r)
        m[r] = *reinterpret_cast<const float4*>(Mds + (ty + r * 16) * M_STRIDE + i4);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float4 n[2];
#pragma unroll
        for (int c = 0; c < 2; ++c)
          n[c] = *reinterpret_cast<const float4*>(Nds + (i4 + i) * BN + c * 64 + tx * 4);
#pragma unroll
        for (int r = 0; r < TM; ++r)
#pragma unroll
          for (int c = 0; c < TN; ++c)
            sum[r][c] = fmaf(lane_of(m[r], i), lane_of(n[c / 4], c % 4), sum[r][c]);
      }
    }
  }

#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; c += 4)
      store_row(P, first_row + ty + r * 16, first_col + c / 4 * 64 + tx * 4, j, l, &sum[r][c]);
}

}  // namespace

void launch_02(const Problem& p, cudaStream_t stream) {
  dim3 grid(ceil_div(p.l, BN), ceil_div(p.j, BM));
  auto kernel =
      rows_are_aligned(p.M, p.k) && rows_are_aligned(p.N, p.l) ? async_copies<4> : async_copies<1>;
  allow_shared(kernel, SHARED_BYTES);
  kernel<<<grid, THREADS, SHARED_BYTES, stream>>>(p.M, p.N, p.P, p.j, p.k, p.l);
  check(cudaGetLastError(), "launch of rung 02");
}

}  // namespace summit
