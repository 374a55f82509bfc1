// Style: seven threads, each with one answer, by a function with a switch

#include "check.h"

constexpr int BLOCK = 128;

// Each thread mixes four values of its own with two that its block shares. n is a multiple of 128.
__global__ void foo_kernel(const float* a, float* b, int n, float factor) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  float x[4];
  __shared__ float scale;
  __shared__ float old_b[BLOCK];

  for (int j = 0; j < 4; ++j) x[j] = a[j * n + i];
  if (threadIdx.x == 0) scale = factor;
  old_b[threadIdx.x] = b[i];
  __syncthreads();
  b[i] = 0.5f * x[0] + 1.5f * x[1] + 2.0f * x[2] + 3.0f * x[3] + scale * old_b[threadIdx.x] +
         old_b[(threadIdx.x + 3) % BLOCK];
}

__device__ int counted(int question, int n) {
  switch (question) {
    case 0:
    case 1:
      return n;
    case 2:
    case 3:
      return n / BLOCK;
    case 4:
      return 516;
    case 5:
      return 10;
    default:
      return 24;
  }
}

__global__ void answer_kernel(int* answers, int n) {
  answers[threadIdx.x] = counted(threadIdx.x, n);
}

// a: 4 n floats; b: n floats; answers: 7 ints. All of them device pointers.
void solve(const float* a, float* b, int* answers, int n) {
  foo_kernel<<<n / BLOCK, BLOCK>>>(a, b, n, 1.25f);
  CHECK(cudaGetLastError());
  answer_kernel<<<1, 7>>>(answers, n);
  CHECK(cudaGetLastError());
}
