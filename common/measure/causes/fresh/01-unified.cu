#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

/* memory that both sides see */
static float* shared_matrix(int n, const float* values) {
  float* p = NULL;
  if (cudaMallocManaged((void**)&p, (size_t)n * n * sizeof(float), cudaMemAttachGlobal) != cudaSuccess) exit(1);
  if (values) memcpy(p, values, (size_t)n * n * sizeof(float));
  return p;
}

__global__ void gemm(float* a, float* b, float* c, int n) {
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n * n; at += gridDim.x * blockDim.x) {
    int i = at / n, j = at % n;
    float dot = 0;
    for (int k = 0; k < n; k++) dot += a[i * n + k] * b[k * n + j];
    c[at] = dot;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  float* a = shared_matrix(width, M);
  float* b = shared_matrix(width, N);
  float* c = shared_matrix(width, NULL);
  int threads = 256;
  int blocks = (width * width + threads - 1) / threads;
  gemm<<<blocks, threads>>>(a, b, c, width);
  if (cudaDeviceSynchronize() != cudaSuccess) exit(2);
  memcpy(P, c, sizeof(float) * width * width);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
