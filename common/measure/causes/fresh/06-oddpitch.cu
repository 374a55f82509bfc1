#include <cuda_runtime.h>

const int kBlock = 64, kPhase = 16, kMine = 4, kLanes = kBlock / kMine;
const int kOdd = kBlock + 1;  // an odd length of rows spreads a column over the banks

template <int PITCH>
__device__ inline float& cell(float* tile, int row, int col) {
  return tile[row * PITCH + col];
}

__device__ inline bool within(int r, int c, int rows, int cols) {
  return r < rows && c < cols;
}

// The left tile is turned while it is stored.
__device__ void load_turned(float* to, const float* from, int rows, int cols, int r0, int c0, int lane) {
  const int c = lane % kPhase;
  for (int r = lane / kPhase; r < kBlock; r += kLanes) {
    cell<kOdd>(to, c, r) = within(r0 + r, c0 + c, rows, cols) ? from[(r0 + r) * cols + c0 + c] : 0.f;
  }
}

__device__ void load_straight(float* to, const float* from, int rows, int cols, int r0, int c0, int lane) {
  const int c = lane % kBlock;
  for (int r = lane / kBlock; r < kPhase; r += kLanes * kLanes / kBlock) {
    cell<kBlock>(to, r, c) = within(r0 + r, c0 + c, rows, cols) ? from[(r0 + r) * cols + c0 + c] : 0.f;
  }
}

__global__ void odd_pitch(const float* m, const float* n, float* p, int J, int K, int L) {
  __shared__ float turned[kPhase * kOdd];
  __shared__ float straight[kPhase * kBlock];
  const int lane = threadIdx.x;
  const int down = lane / kLanes, over = lane % kLanes;
  const int r0 = kBlock * blockIdx.y, c0 = kBlock * blockIdx.x;
  float own[kMine][kMine];
  for (auto& row : own)
    for (float& one : row) one = 0.f;

  for (int k0 = 0; k0 < K; k0 += kPhase) {
    load_turned(turned, m, J, K, r0, k0, lane);
    load_straight(straight, n, K, L, k0, c0, lane);
    __syncthreads();
    for (int k = 0; k < kPhase; ++k) {
      for (int a = 0; a < kMine; ++a) {
        const float factor = cell<kOdd>(turned, k, down + a * kLanes);
        for (int b = 0; b < kMine; ++b) own[a][b] += factor * cell<kBlock>(straight, k, over + b * kLanes);
      }
    }
    __syncthreads();
  }

  for (int a = 0; a < kMine; ++a)
    for (int b = 0; b < kMine; ++b) {
      const int r = r0 + down + a * kLanes, c = c0 + over + b * kLanes;
      if (within(r, c, J, L)) p[r * L + c] = own[a][b];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 blocks((l + kBlock - 1) / kBlock, (j + kBlock - 1) / kBlock);
  odd_pitch<<<blocks, kLanes * kLanes>>>(M, N, P, j, k, l);
}
