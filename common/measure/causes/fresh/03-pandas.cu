// lab 03 - I usually write numpy. P = M @ N, padded with zeros like np.pad
#include "check.h"

const int TS = 16;

struct Square {
  const float* data;
  int n;

  // like np.pad(A, ...)[r, c]
  __device__ float padded(int r, int c) const {
    bool exists = r < n && c < n;
    return exists ? data[r * n + c] : 0.0f;
  }
};

__global__ void matmul_padded(Square M, Square N, float* P) {
  __shared__ float left[TS][TS];
  __shared__ float right[TS][TS];

  const int n = M.n;
  const int r0 = blockIdx.y * TS, c0 = blockIdx.x * TS;
  const int dr = threadIdx.y, dc = threadIdx.x;

  auto dot = [&]() {
    float d = 0.0f;
    for (int t = 0; t < TS; t++) d += left[dr][t] * right[t][dc];
    return d;
  };

  float out = 0.0f;
  for (int start = 0; start < n; start += TS) {
    left[dr][dc] = M.padded(r0 + dr, start + dc);
    right[dr][dc] = N.padded(start + dr, c0 + dc);
    __syncthreads();
    out += dot();
    __syncthreads();
  }

  if (r0 + dr < n && c0 + dc < n) {
    P[(r0 + dr) * n + c0 + dc] = out;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  Square m = {M, width};
  Square n = {N, width};
  int tiles = (width - 1) / TS + 1;
  matmul_padded<<<dim3(tiles, tiles), dim3(TS, TS)>>>(m, n, P);
  CHECK(cudaGetLastError());
}
