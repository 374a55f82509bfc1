// templates: Fragment objects, rows apart as well as columns, M tile not transposed
#include "check.h"

template <int ROWS, int COLS>
struct Stage {
  float v[ROWS][COLS];
  template <int COUNT>
  __device__ void fill(const float* g, int nr, int nc, int r0, int c0, int id) {
    constexpr int perSweep = COUNT / COLS;
    const int cc = id % COLS;
    for (int rr = id / COLS; rr < ROWS; rr += perSweep) {
      const int r = r0 + rr, c = c0 + cc;
      v[rr][cc] = r < nr && c < nc ? g[size_t(r) * nc + c] : 0.0f;
    }
  }
};

constexpr int TR = 16, TC = 16;  // threads
constexpr int FR = 4, FC = 4;    // results of a thread
constexpr int KC = 16;
constexpr int NT = TR * TC;

__global__ void outer(const float* A, const float* B, float* C, int m, int kk, int n) {
  __shared__ Stage<TR * FR, KC> sa;
  __shared__ Stage<KC, TC * FC> sb;

  const int tc = threadIdx.x, tr = threadIdx.y;
  const int id = tr * TC + tc;
  const int r0 = blockIdx.y * (TR * FR), c0 = blockIdx.x * (TC * FC);

  float acc[FR * FC] = {0.0f};
  for (int k0 = 0; k0 < kk; k0 += KC) {
    sa.fill<NT>(A, m, kk, r0, k0, id);
    sb.fill<NT>(B, kk, n, k0, c0, id);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < KC; ++k) {
      float b[FC];
#pragma unroll
      for (int f = 0; f < FC; ++f) b[f] = sb.v[k][tc + f * TC];
#pragma unroll
      for (int e = 0; e < FR; ++e) {
        const float a = sa.v[tr + e * TR][k];
#pragma unroll
        for (int f = 0; f < FC; ++f) acc[e * FC + f] += a * b[f];
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int ef = 0; ef < FR * FC; ++ef) {
    const int r = r0 + tr + ef / FC * TR;
    const int c = c0 + tc + ef % FC * TC;
    if (r < m && c < n) C[size_t(r) * n + c] = acc[ef];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto up = [](int a, int b) { return unsigned((a + b - 1) / b); };
  outer<<<dim3(up(l, TC * FC), up(j, TR * FR)), dim3(TC, TR)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
