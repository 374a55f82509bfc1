// Exercise "foo-kernel": complete a small kernel, then count its variables, bytes and operations.
// The handout is README.md.
//
//   make grade LAB=foo-kernel                             grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it

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
  // TODO(1): others read what this thread has put into shared memory. (about 1 line)
  __syncthreads();
  // END TODO(1)
  b[i] = 0.5f * x[0] + 1.5f * x[1] + 2.0f * x[2] + 3.0f * x[3] + scale * old_b[threadIdx.x] +
         old_b[(threadIdx.x + 3) % BLOCK];
}

// Writes what you have counted for a launch of foo_kernel that covers n elements.
__global__ void answer_kernel(int* answers, int n) {
  // TODO(2): put the seven numbers of the handout into answers. (about 7 lines)
  answers[0] = n;              // versions of i: one for each thread
  answers[1] = n;              // of the array x: one for each thread
  answers[2] = n / BLOCK;      // of scale: one for each block
  answers[3] = n / BLOCK;      // of old_b: one for each block
  answers[4] = 4 * (1 + 128);  // bytes of shared memory of a block
  answers[5] = 5 + 5;          // multiplications and additions of a thread
  answers[6] = 4 * (4 + 2);    // bytes of global memory that a thread reads and writes
  // END TODO(2)
}

// a: 4 n floats; b: n floats; answers: 7 ints. All of them device pointers.
void solve(const float* a, float* b, int* answers, int n) {
  foo_kernel<<<n / BLOCK, BLOCK>>>(a, b, n, 1.25f);
  CHECK(cudaGetLastError());
  answer_kernel<<<1, 1>>>(answers, n);
  CHECK(cudaGetLastError());
}
