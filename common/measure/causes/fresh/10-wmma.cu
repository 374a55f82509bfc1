#include <cuda_bf16.h>
#include <mma.h>

#include "check.h"

using namespace nvcuda;

constexpr int kBlock = 128, kDeep = 32, kPad = 8;
constexpr int kLdA = kDeep + kPad, kLdB = kBlock + kPad;

__device__ float value(const float* a, int rows, int cols, int r, int c) {
  return r < rows && c < cols ? a[r * cols + c] : 0.0f;
}

// Eight warps, two rows of four: each has 64 x 32 elements, four by two pieces.
__global__ void wmmaProduct(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(32) __nv_bfloat16 a[kBlock * kLdA];
  __shared__ __align__(32) __nv_bfloat16 b[kDeep * kLdB];
  __shared__ __align__(32) float patch[8][16 * 16];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int top = blockIdx.y * kBlock, left = blockIdx.x * kBlock;
  const int wr = warp / 4 * 64, wc = warp % 4 * 32;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 2; ++x) wmma::fill_fragment(sum[y][x], 0.0f);

  for (int from = 0; from < k; from += kDeep) {
    for (int e = threadIdx.x; e < kBlock * kDeep; e += 256) {
      const int r = e / kDeep, c = e % kDeep;
      a[r * kLdA + c] = __float2bfloat16(value(M, j, k, top + r, from + c));
    }
    for (int e = threadIdx.x; e < kDeep * kBlock; e += 256) {
      const int r = e / kBlock, c = e % kBlock;
      b[r * kLdB + c] = __float2bfloat16(value(N, k, l, from + r, left + c));
    }
    __syncthreads();
    for (int d = 0; d < kDeep; d += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb[2];
      for (int y = 0; y < 4; ++y) wmma::load_matrix_sync(fa[y], a + (wr + 16 * y) * kLdA + d, kLdA);
      for (int x = 0; x < 2; ++x) wmma::load_matrix_sync(fb[x], b + d * kLdB + wc + 16 * x, kLdB);
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 2; ++x) wmma::mma_sync(sum[y][x], fa[y], fb[x], sum[y][x]);
    }
    __syncthreads();
  }

  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 2; ++x) {
      wmma::store_matrix_sync(patch[warp], sum[y][x], 16, wmma::mem_row_major);
      __syncwarp();
      for (int e = lane; e < 256; e += 32) {
        const int row = top + wr + 16 * y + e / 16, col = left + wc + 16 * x + e % 16;
        if (row < j && col < l) P[row * l + col] = patch[warp][e];
      }
      __syncwarp();
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  wmmaProduct<<<dim3((l + kBlock - 1) / kBlock, (j + kBlock - 1) / kBlock), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
