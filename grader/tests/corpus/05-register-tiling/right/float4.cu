// Style: tiles read as float4 where k and l are multiples of 4, another kernel for the rest;
// contiguous patches

#include "check.h"

constexpr int B = 64, BK = 16, T = 4;  // B x B of P per block, T x T per thread

template <bool Vector>
__global__ void register_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(16) float Mds[B][BK + 4];
  __shared__ __align__(16) float Nds[BK][B];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int first_row = blockIdx.y * B, first_col = blockIdx.x * B;
  float sum[T][T] = {};
  for (int first = 0; first < k; first += BK) {
    if (Vector) {
      float4 none = {0.0f, 0.0f, 0.0f, 0.0f};
      int r = threadIdx.x / 4, i = threadIdx.x % 4 * 4;  // row and first column in the tile of M
      int row = first_row + r, col = first + i;
      bool inside = row < j && col < k;
      *reinterpret_cast<float4*>(&Mds[r][i]) =
          inside ? *reinterpret_cast<const float4*>(&M[size_t(row) * k + col]) : none;
      i = threadIdx.x / 16;  // row in the tile of N
      row = first + i;
      col = first_col + threadIdx.x % 16 * 4;
      inside = row < k && col < l;
      *reinterpret_cast<float4*>(&Nds[i][threadIdx.x % 16 * 4]) =
          inside ? *reinterpret_cast<const float4*>(&N[size_t(row) * l + col]) : none;
    } else {
      for (int e = threadIdx.x; e < B * BK; e += blockDim.x) {
        int row = first_row + e / BK, col = first + e % BK;
        Mds[e / BK][e % BK] = row < j && col < k ? M[size_t(row) * k + col] : 0.0f;
        row = first + e / B;
        col = first_col + e % B;
        Nds[e / B][e % B] = row < k && col < l ? N[size_t(row) * l + col] : 0.0f;
      }
    }
    __syncthreads();
    for (int i = 0; i < BK; ++i) {
      float4 n = *reinterpret_cast<const float4*>(&Nds[i][tx * T]);
      for (int r = 0; r < T; ++r) {
        float m = Mds[ty + r * 16][i];
        sum[r][0] += m * n.x;
        sum[r][1] += m * n.y;
        sum[r][2] += m * n.z;
        sum[r][3] += m * n.w;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < T; ++r) {
    int row = first_row + ty + r * 16, col = first_col + tx * T;
    for (int c = 0; c < T; ++c) {
      if (row < j && col + c < l) P[size_t(row) * l + col + c] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + B - 1) / B, (j + B - 1) / B);
  if (k % 4 == 0 && l % 4 == 0) {
    register_kernel<true><<<grid, 256>>>(M, N, P, j, k, l);
  } else {
    register_kernel<false><<<grid, 256>>>(M, N, P, j, k, l);
  }
  CHECK(cudaGetLastError());
}
