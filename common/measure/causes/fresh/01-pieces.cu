#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define TRY(x) do { cudaError_t e = (x); if (e != cudaSuccess) { std::fprintf(stderr, "%s\n", cudaGetErrorString(e)); std::exit(1); } } while (0)

// A thread has a run of four elements of one row.
const int RUN = 4;

__device__ inline float dot(const float* row, const float* column, int length, int pitch) {
  float s = 0.0f;
  for (int i = length - 1; i >= 0; i--) s += row[i] * column[i * pitch];
  return s;
}

__global__ void runs(const float* a, const float* b, float* c, int n) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * RUN;
  if (y >= n) return;
  const int last = first + RUN < n ? first + RUN : n;
  for (int x = first; x < last; x++)
    c[y * n + x] = dot(a + y * n, b + x, n, n);
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t bytes = sizeof(float) * width * width;
  float *a, *b, *c;
  TRY(cudaMalloc(&a, bytes));
  TRY(cudaMalloc(&b, bytes));
  TRY(cudaMalloc(&c, bytes));
  TRY(cudaMemcpy(a, M, bytes, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(b, N, bytes, cudaMemcpyHostToDevice));
  const dim3 threads(8, 16);
  const int columns = threads.x * RUN;
  const dim3 blocks((width + columns - 1) / columns, (width + threads.y - 1) / threads.y);
  runs<<<blocks, threads>>>(a, b, c, width);
  TRY(cudaGetLastError());
  TRY(cudaMemcpy(P, c, bytes, cudaMemcpyDeviceToHost));
  TRY(cudaFree(a));
  TRY(cudaFree(b));
  TRY(cudaFree(c));
}
