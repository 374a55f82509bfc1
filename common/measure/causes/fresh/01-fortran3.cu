// Exercise 1. I come from Fortran, so everything counts from one.
#include <cstddef>
#include "check.h"

#define AT(a, i, j) a[((i) - 1) * n + ((j) - 1)]
#define NTHREADS 192

enum Intent { INTENT_IN, INTENT_OUT };

// one thread = one element; elements are numbered 1 .. n*n along the rows
__global__ void matmul1(const float* a, const float* b, float* c, int n) {
  int number = blockIdx.x * NTHREADS + threadIdx.x + 1;
  if (number <= n * n) {
    int i = (number - 1) / n + 1;
    int j = number - (i - 1) * n;
    float s = 0.0f;
    for (int l = 1; l <= n; l++)
      s = s + AT(a, i, l) * AT(b, l, j);
    AT(c, i, j) = s;
  }
}

static float* allocate(const float* host, int n, Intent intent) {
  void* dev = nullptr;
  size_t nbytes = size_t(n) * n * sizeof(float);
  CHECK(cudaMalloc(&dev, nbytes));
  if (intent == INTENT_IN)
    CHECK(cudaMemcpy(dev, host, nbytes, cudaMemcpyHostToDevice));
  return static_cast<float*>(dev);
}

static void deallocate(float* dev, float* host, int n, Intent intent) {
  if (intent == INTENT_OUT)
    CHECK(cudaMemcpy(host, dev, size_t(n) * n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(dev));
}

void solve(const float* M, const float* N, float* P, int width) {
  float* a = allocate(M, width, INTENT_IN);
  float* b = allocate(N, width, INTENT_IN);
  float* c = allocate(P, width, INTENT_OUT);

  int total = width * width;
  int nblocks = (total - 1) / NTHREADS + 1;
  matmul1<<<nblocks, NTHREADS>>>(a, b, c, width);
  CHECK(cudaGetLastError());

  deallocate(c, P, width, INTENT_OUT);
  deallocate(b, nullptr, width, INTENT_IN);
  deallocate(a, nullptr, width, INTENT_IN);
}
