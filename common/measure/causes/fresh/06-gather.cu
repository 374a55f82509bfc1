#include "check.h"

template <int ROWS, int COLS, int PITCH>
struct Shared {
  float cell[ROWS * PITCH];
  __device__ float& at(int r, int c) { return cell[r * PITCH + c]; }
  __device__ float at(int r, int c) const { return cell[r * PITCH + c]; }
};

struct Matrix {
  const float* data;
  int rows, cols;
  __device__ float get(int r, int c) const {
    if (r >= rows) return 0;
    if (c >= cols) return 0;
    return data[(size_t)r * cols + c];
  }
};

constexpr int kTile = 64;
constexpr int kStep = 16;
constexpr int kMine = 4;
constexpr int kSide = kTile / kMine;
constexpr int kThreads = kSide * kSide;

__global__ void gemm(Matrix m, Matrix n, float* p) {
  __shared__ Shared<kStep, kTile, kTile + 2> left;
  __shared__ Shared<kStep, kTile, kTile> right;

  const int id = threadIdx.x + threadIdx.y * blockDim.x;
  const int y0 = blockIdx.y * kTile;
  const int x0 = blockIdx.x * kTile;

  float sums[kMine][kMine];
  for (auto& row : sums)
    for (float& one : row) one = 0;

  auto bring = [&](int z0) {
    for (int e = id; e < kTile * kStep; e += kThreads) {
      int y = e / kStep, z = e % kStep;
      left.at(z, y) = m.get(y0 + y, z0 + z);
    }
    for (int e = id; e < kTile * kStep; e += kThreads) {
      int z = e / kTile, x = e % kTile;
      right.at(z, x) = n.get(z0 + z, x0 + x);
    }
  };

  int z0 = 0;
  while (z0 < m.cols) {
    bring(z0);
    __syncthreads();
    for (int z = 0; z < kStep; ++z) {
      float a[kMine];
      float b[kMine];
      for (int i = 0; i < kMine; ++i) {
        a[i] = left.at(z, threadIdx.y * kMine + i);
        b[i] = right.at(z, threadIdx.x + i * kSide);
      }
      for (int y = 0; y < kMine; ++y)
        for (int x = 0; x < kMine; ++x) sums[y][x] += a[y] * b[x];
    }
    __syncthreads();
    z0 += kStep;
  }

  for (int y = 0; y < kMine; ++y) {
    for (int x = 0; x < kMine; ++x) {
      const int r = y0 + threadIdx.y * kMine + y;
      const int c = x0 + threadIdx.x + x * kSide;
      if (r < m.rows && c < n.cols) p[(size_t)r * n.cols + c] = sums[y][x];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Matrix m{M, j, k}, n{N, k, l};
  dim3 grid((l + kTile - 1) / kTile, (j + kTile - 1) / kTile);
  gemm<<<grid, dim3(kSide, kSide)>>>(m, n, P);
  CHECK(cudaGetLastError());
}
