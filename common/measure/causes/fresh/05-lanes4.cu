// 64 x 64 of P for a block of 256: each thread 4 x 4, its rows and columns sixteen apart.
#include <cuda_runtime.h>

namespace tile {
constexpr int kSide = 64, kDepth = 16, kEach = 4, kThreads = 256;
}

__device__ __forceinline__ float guarded(const float* p, int row, int col, int rows, int cols) {
  return row < rows && col < cols ? __ldg(p + (long long)row * cols + col) : 0.0f;
}

__global__ __launch_bounds__(256) void lanes(const float* m, const float* n, float* p, int j, int k, int l) {
  using namespace tile;
  __shared__ float sm[kDepth][kSide + 1], sn[kDepth][kSide];
  const int id = threadIdx.x;
  const int ty = id / 16, tx = id % 16;
  const int y0 = blockIdx.y * kSide, x0 = blockIdx.x * kSide;
  float acc[kEach * kEach];
  for (float& one : acc) one = 0.0f;

  for (int base = 0; base < k; base += kDepth) {
    for (int load = 0; load < kSide * kDepth / kThreads; ++load) {
      const int e = id + load * kThreads;
      sm[e % kDepth][e / kDepth] = guarded(m, y0 + e / kDepth, base + e % kDepth, j, k);
      sn[e / kSide][e % kSide] = guarded(n, base + e / kSide, x0 + e % kSide, k, l);
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) {
      float u[kEach], v[kEach];
      for (int q = 0; q < kEach; ++q) {
        u[q] = sm[d][ty + 16 * q];
        v[q] = sn[d][tx + 16 * q];
      }
      for (int q = 0; q < kEach * kEach; ++q) acc[q] += u[q / kEach] * v[q % kEach];
    }
    __syncthreads();
  }

  for (int q = 0; q < kEach * kEach; ++q) {
    const int row = y0 + ty + 16 * (q / kEach), col = x0 + tx + 16 * (q % kEach);
    if (row < j && col < l) p[(long long)row * l + col] = acc[q];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto up = [](int a, int b) { return (a + b - 1) / b; };
  lanes<<<dim3(up(l, tile::kSide), up(j, tile::kSide)), tile::kThreads>>>(M, N, P, j, k, l);
}
