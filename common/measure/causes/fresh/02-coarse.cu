#include "check.h"

namespace {

constexpr int kTile = 16;
constexpr int kWide = 2;  // tiles of N side by side for each block

__device__ __forceinline__ int offset(int row, int col, int pitch) { return row * pitch + col; }

__global__ void coarse(const float* left, const float* right, float* out, int size) {
  __shared__ float l[kTile][kTile];
  __shared__ float r[kTile][kTile * kWide];

  const int tx{static_cast<int>(threadIdx.x)};
  const int ty{static_cast<int>(threadIdx.y)};
  const int top = kTile * blockIdx.y;
  const int side = kTile * kWide * blockIdx.x;

  float acc[kWide] = {};
  for (int step = 0, steps = size / kTile; step < steps; ++step) {
    const int k0 = step * kTile;
    l[ty][tx] = left[offset(top + ty, k0 + tx, size)];
    for (int w = 0; w < kWide; ++w)
      r[ty][w * kTile + tx] = right[offset(k0 + ty, side + w * kTile + tx, size)];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) {
      const float value = l[ty][k];
      for (int w = 0; w < kWide; ++w) acc[w] += value * r[k][tx + w * kTile];
    }
    __syncthreads();
  }
  for (int w = 0; w < kWide; ++w) out[offset(top + ty, side + w * kTile + tx, size)] = acc[w];
}

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const dim3 block(kTile, kTile);
  const dim3 grid(width / (kTile * kWide), width / kTile);
  coarse<<<grid, block>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
