#include "check.h"

#define T 16
#define AT(X, r, c) X[(size_t)(r) * width + (c)]
#define INSIDE(r, c) ((r) < width && (c) < width)
#define BLOCKS ((width + T - 1) / T)

__global__ void kernel(const float* M, const float* N, float* P, int width) {
  __shared__ float tileM[T][T];
  __shared__ float tileN[T][T];

  const int lx = threadIdx.x;
  const int ly = threadIdx.y;
  const int gx = blockIdx.x * T + lx;
  const int gy = blockIdx.y * T + ly;

  float acc = 0.0f;
  for (int step = 0; step < BLOCKS; step++) {
    const int mx = step * T + lx;
    const int ny = step * T + ly;
    tileM[ly][lx] = INSIDE(gy, mx) ? AT(M, gy, mx) : 0.0f;
    tileN[ly][lx] = INSIDE(ny, gx) ? AT(N, ny, gx) : 0.0f;
    __syncthreads();

    for (int q = 0; q < T; q++) {
      if (step * T + q >= width) continue;
      acc += tileM[ly][q] * tileN[q][lx];
    }
    __syncthreads();
  }

  if (!INSIDE(gy, gx)) return;
  AT(P, gy, gx) = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  dim3 threads(T, T);
  dim3 blocks(BLOCKS, BLOCKS);
  kernel<<<blocks, threads>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
