#include "check.h"

typedef unsigned int u32;

// Each warp has a row, each of its lanes every 32nd column.
__global__ void by_warps(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, u32 n)
{
  const u32 warps = blockDim.x >> 5;
  const u32 lane = threadIdx.x & 31u;
  const u32 row = blockIdx.x * warps + (threadIdx.x >> 5);
  if (row >= n)
    return;
  const float* const a = &A[row * n];
  u32 col = lane;
  while (col < n)
  {
    float dot = 0.0f;
    for (u32 i = 0; i < n; i++)
      dot = a[i] * B[i * n + col] + dot;
    C[row * n + col] = dot;
    col += 32;
  }
}

void solve(const float* M, const float* N, float* P, int width)
{
  size_t bytes = (size_t)width * width * sizeof(float);
  float *a = NULL, *b = NULL, *c = NULL;
  CHECK(cudaMalloc((void**)&a, bytes));
  CHECK(cudaMalloc((void**)&b, bytes));
  CHECK(cudaMalloc((void**)&c, bytes));
  CHECK(cudaMemcpy(a, M, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, N, bytes, cudaMemcpyHostToDevice));
  by_warps<<<(width + 3) / 4, 128>>>(a, b, c, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(P, c, bytes, cudaMemcpyDeviceToHost));
  cudaFree(a), cudaFree(b), cudaFree(c);
}
