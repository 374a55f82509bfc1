#include "check.h"

// A block is a flat line of 128 threads; each owns a window of 8 rows and 4 columns of P.
namespace window {
constexpr int kRows = 8, kCols = 4;
constexpr int kAcross = 16, kDown = 8;  // threads along a row and along a column of the block
constexpr int kHigh = kRows * kDown, kWide = kCols * kAcross;  // 64 x 64
constexpr int kDeep = 8;

struct Dims {
  int j, k, l;
};

template <typename F>
__device__ inline void each(int count, F f) {
  for (int i = threadIdx.x; i < count; i += kAcross * kDown) f(i);
}

__global__ void product(const float* __restrict__ m, const float* __restrict__ n, float* __restrict__ p,
                        Dims d) {
  __shared__ float left[kHigh][kDeep];
  __shared__ float right[kDeep][kWide];
  const int v = threadIdx.x / kAcross, h = threadIdx.x % kAcross;
  const int top = blockIdx.x * kHigh, side = blockIdx.y * kWide;

  float own[kRows * kCols];
  for (float& one : own) one = 0.0f;

  for (int z = 0; z < d.k; z += kDeep) {
    each(kHigh * kDeep, [&](int i) {
      const int r = i / kDeep, c = i % kDeep;
      const bool in = top + r < d.j && z + c < d.k;
      left[r][c] = in ? m[(top + r) * d.k + z + c] : 0.0f;
    });
    each(kDeep * kWide, [&](int i) {
      const int r = i / kWide, c = i % kWide;
      const bool in = z + r < d.k && side + c < d.l;
      right[r][c] = in ? n[(z + r) * d.l + side + c] : 0.0f;
    });
    __syncthreads();
    for (int e = 0; e < kDeep; ++e) {
      for (int y = 0; y < kRows; ++y) {
        const float a = left[v * kRows + y][e];
        for (int x = 0; x < kCols; ++x) own[y * kCols + x] += a * right[e][h * kCols + x];
      }
    }
    __syncthreads();
  }

  for (int y = 0; y < kRows; ++y) {
    const int row = top + v * kRows + y;
    if (row >= d.j) break;
    for (int x = 0; x < kCols; ++x) {
      const int col = side + h * kCols + x;
      if (col < d.l) p[row * d.l + col] = own[y * kCols + x];
    }
  }
}
}  // namespace window

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  using namespace window;
  dim3 grid((j + kHigh - 1) / kHigh, (l + kWide - 1) / kWide);
  product<<<grid, kAcross * kDown>>>(M, N, P, Dims{j, k, l});
  CHECK(cudaGetLastError());
}
