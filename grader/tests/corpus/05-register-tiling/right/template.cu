// Style: tile and patch sizes as template parameters, chosen by the shape

#include "check.h"

template <int BM, int BN, int BK, int TM, int TN>
__global__ void register_kernel(const float* __restrict__ M, const float* __restrict__ N,
                                float* __restrict__ P, int j, int k, int l) {
  constexpr int TX = BN / TN, TY = BM / TM;
  __shared__ float Mds[BK][BM + 2];
  __shared__ float Nds[BK][BN];
  const int tx = threadIdx.x % TX, ty = threadIdx.x / TX;
  const int first_row = blockIdx.y * BM, first_col = blockIdx.x * BN;
  float sum[TM][TN] = {};
  for (int first = 0; first < k; first += BK) {
#pragma unroll
    for (int e = threadIdx.x; e < BM * BK; e += TX * TY) {
      int row = first_row + e / BK, col = first + e % BK;
      Mds[e % BK][e / BK] = row < j && col < k ? M[size_t(row) * k + col] : 0.0f;
    }
#pragma unroll
    for (int e = threadIdx.x; e < BK * BN; e += TX * TY) {
      int row = first + e / BN, col = first_col + e % BN;
      Nds[e / BN][e % BN] = row < k && col < l ? N[size_t(row) * l + col] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      float m[TM];
#pragma unroll
      for (int r = 0; r < TM; ++r) m[r] = Mds[i][ty * TM + r];
#pragma unroll
      for (int c = 0; c < TN; ++c) {
        float n = Nds[i][tx + c * TX];
#pragma unroll
        for (int r = 0; r < TM; ++r) sum[r][c] = fmaf(m[r], n, sum[r][c]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) {
    int row = first_row + ty * TM + r;
#pragma unroll
    for (int c = 0; c < TN; ++c) {
      int col = first_col + tx + c * TX;
      if (row < j && col < l) P[size_t(row) * l + col] = sum[r][c];
    }
  }
}

template <int BM, int BN, int BK, int TM, int TN>
void launch(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + BN - 1) / BN, (j + BM - 1) / BM);
  register_kernel<BM, BN, BK, TM, TN><<<grid, BM / TM*(BN / TN)>>>(M, N, P, j, k, l);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  if (j < 64 || l < 64) {
    launch<32, 32, 16, 2, 4>(M, N, P, j, k, l);
  } else {
    launch<64, 64, 16, 4, 4>(M, N, P, j, k, l);
  }
  CHECK(cudaGetLastError());
}
