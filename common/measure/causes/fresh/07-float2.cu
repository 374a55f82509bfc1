#include "check.h"

constexpr int TB = 32, KB = 16;

__device__ float2 load2(const float* A, int rows, int cols, int r, int c) {
  float2 v = {0.f, 0.f};
  if (r >= rows) return v;
  const float* p = A + (size_t)r * cols + c;
  if (cols % 2 == 0) {
    if (c < cols) v = *(const float2*)p;
  } else {
    if (c < cols) v.x = p[0];
    if (c + 1 < cols) v.y = p[1];
  }
  return v;
}

__global__ void twos(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float2 ms[TB][KB / 2];
  __shared__ float2 ns[KB][TB / 2];
  int t = threadIdx.x;
  int row = t / 16, col = t % 16;  // of the thread: 16 x 16, rows row and row + 16, columns 2 col, 2 col + 1
  float2 acc[2] = {};
  for (int base = 0; base < k; base += KB) {
    int mr = t / (KB / 2), mc = t % (KB / 2);
    ms[mr][mc] = load2(M, j, k, blockIdx.y * TB + mr, base + 2 * mc);
    int nr = t / (TB / 2), nc = t % (TB / 2);
    ns[nr][nc] = load2(N, k, l, base + nr, blockIdx.x * TB + 2 * nc);
    __syncthreads();
    for (int i = 0; i < KB / 2; i++) {
      float2 n0 = ns[2 * i][col], n1 = ns[2 * i + 1][col];
      for (int h = 0; h < 2; h++) {
        float2 m = ms[row + 16 * h][i];
        acc[h].x += m.x * n0.x + m.y * n1.x;
        acc[h].y += m.x * n0.y + m.y * n1.y;
      }
    }
    __syncthreads();
  }
  for (int h = 0; h < 2; h++) {
    int r = blockIdx.y * TB + row + 16 * h, c = blockIdx.x * TB + 2 * col;
    if (r < j && c < l) P[(size_t)r * l + c] = acc[h].x;
    if (r < j && c + 1 < l) P[(size_t)r * l + c + 1] = acc[h].y;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  twos<<<dim3((l + TB - 1) / TB, (j + TB - 1) / TB), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
