#include "check.h"

typedef unsigned int uint;

#define AT(r, c) ((r) * n + (c))

__global__ void matmul(const float* left, const float* right, float* out, uint n) {
  const uint c = threadIdx.x + blockIdx.x * blockDim.x, r = threadIdx.y + blockIdx.y * blockDim.y;
  if (!(c < n && r < n)) return;
  double acc = 0.0;
  uint i = 0;
  do {
    acc += (double)left[AT(r, i)] * right[AT(i, c)];
    ++i;
  } while (i < n);
  out[AT(r, c)] = (float)acc;
}

static uint pieces(uint whole, uint part) { return whole / part + (whole % part != 0 ? 1 : 0); }

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = (size_t)width * width;
  float *a = 0, *b = 0, *c = 0;
  CHECK(cudaMalloc((void**)&a, sizeof(float) * count));
  CHECK(cudaMalloc((void**)&b, sizeof(float) * count));
  CHECK(cudaMalloc((void**)&c, sizeof(float) * count));
  CHECK(cudaMemcpy(a, M, sizeof(float) * count, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, N, sizeof(float) * count, cudaMemcpyHostToDevice));
  dim3 threads(32, 4, 1);
  dim3 blocks(pieces(width, threads.x), pieces(width, threads.y), 1);
  matmul<<<blocks, threads>>>(a, b, c, width);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(P, c, sizeof(float) * count, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(c));
  CHECK(cudaFree(b));
  CHECK(cudaFree(a));
}
