#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>

#define TRY(...)                                                              \
  do {                                                                        \
    cudaError_t e_ = (__VA_ARGS__);                                           \
    if (e_ != cudaSuccess) {                                                  \
      printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));      \
      return;                                                                 \
    }                                                                         \
  } while (0)

__global__ void mm(float* A, float* B, float* C, int W) {
  int y = blockIdx.y * 16 + threadIdx.y;
  int x = blockIdx.x * 16 + threadIdx.x;
  if (y < W && x < W) {
    float s = 0;
    for (int q = 0; q < W; q++) s += A[y * W + q] * B[q * W + x];
    C[y * W + x] = s;
  }
}

/* room on the device, filled from the host */
static void toDevice(float** d, const float* h, int count) {
  TRY(cudaMalloc((void**)d, count * sizeof(float)));
  TRY(cudaMemcpy(*d, h, count * sizeof(float), cudaMemcpyHostToDevice));
}

/* back to the host; the room is given back, too */
static void toHost(float* h, float* d, int count) {
  TRY(cudaMemcpy(h, d, count * sizeof(float), cudaMemcpyDeviceToHost));
  TRY(cudaFree(d));
}

void solve(const float* M, const float* N, float* P, int width) {
  int count = width * width;
  float *a, *b, *c;
  toDevice(&a, M, count);
  toDevice(&b, N, count);
  TRY(cudaMalloc((void**)&c, count * sizeof(float)));

  dim3 threads(16, 16);
  unsigned tiles = (unsigned)ceil(width / 16.0);
  dim3 blocks(tiles, tiles);
  mm<<<blocks, threads>>>(a, b, c, width);
  TRY(cudaGetLastError());

  toHost(P, c, count);
  TRY(cudaFree(a));
  TRY(cudaFree(b));
}
