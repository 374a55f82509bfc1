// Register tiling with a Patch type that knows which elements of P a thread owns.
#include "check.h"

template <int R, int C, int StepR, int StepC>
struct Patch {
  float v[R][C] = {};

  __device__ void outer(const float* column, const float* line) {
    float m[R];
    for (int r = 0; r < R; ++r) m[r] = column[r * StepR];
    for (int c = 0; c < C; ++c) {
      const float n = line[c * StepC];
      for (int r = 0; r < R; ++r) v[r][c] += m[r] * n;
    }
  }

  template <class F>
  __device__ void each(F f) const {
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c) f(r * StepR, c * StepC, v[r][c]);
  }
};

constexpr int SIDE = 16;             // threads along one side of a block
constexpr int PER = 4;               // elements of a thread along one side
constexpr int BLOCK = SIDE * PER;    // elements of a block along one side
constexpr int DEEP = 16;

__global__ void patches(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float mt[DEEP][BLOCK];
  __shared__ float nt[DEEP][BLOCK];

  const int id = threadIdx.x;
  const int px = id % SIDE, py = id / SIDE;
  const int r0 = blockIdx.y * BLOCK, c0 = blockIdx.x * BLOCK;

  Patch<PER, PER, SIDE, SIDE> patch;
  for (int base = 0; base < k; base += DEEP) {
    for (int t = 0; t < PER; ++t) {
      const int d = px, r = py + t * SIDE;
      const bool in = r0 + r < j && base + d < k;
      mt[d][r] = in ? M[size_t(r0 + r) * k + base + d] : 0.f;
    }
    for (int t = 0; t < PER; ++t) {
      const int d = id / BLOCK + t * (DEEP / PER), c = id % BLOCK;
      const bool in = base + d < k && c0 + c < l;
      nt[d][c] = in ? N[size_t(base + d) * l + c0 + c] : 0.f;
    }
    __syncthreads();
    for (int d = 0; d < DEEP; ++d) patch.outer(mt[d] + py, nt[d] + px);
    __syncthreads();
  }

  patch.each([=](int dr, int dc, float value) {
    const int row = r0 + py + dr, col = c0 + px + dc;
    if (row < j && col < l) P[size_t(row) * l + col] = value;
  });
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l - 1) / BLOCK + 1, (j - 1) / BLOCK + 1);
  patches<<<grid, SIDE * SIDE>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
