#include <cstdio>

#include "check.h"

const int N_THREADS = 256;

// one thread = one number
__global__ void scale_kernel(float* x, int n) {
  int gid = blockIdx.x * blockDim.x + threadIdx.x;
  if (gid < n) {
    x[gid] = x[gid] + x[gid];
  }
}

__global__ void negative_kernel(int* img, int rows, int cols) {
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  if (c >= cols) return;
  int v = img[r * cols + c];
  img[r * cols + c] = 255 - v;
}

__global__ void hello_kernel() {
  if (threadIdx.x != 0) return;
  printf("block %d blockDim %d\n", blockIdx.x, blockDim.x);
}

void solve(float* a, int* image, int n, int rows, int columns) {
  float* x = NULL;
  int* img = NULL;
  size_t bytesX = sizeof(float) * n;
  size_t bytesImg = sizeof(int) * rows * columns;
  CHECK(cudaMalloc(&x, bytesX));
  CHECK(cudaMalloc(&img, bytesImg));
  CHECK(cudaMemcpy(x, a, bytesX, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(img, image, bytesImg, cudaMemcpyHostToDevice));

  hello_kernel<<<2, 64>>>();
  scale_kernel<<<(n + N_THREADS - 1) / N_THREADS, N_THREADS>>>(x, n);
  CHECK(cudaGetLastError());
  dim3 blk(32, 4, 1);
  dim3 grd((columns + 31) / 32, (rows + 3) / 4, 1);
  negative_kernel<<<grd, blk>>>(img, rows, columns);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpy(a, x, bytesX, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(image, img, bytesImg, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(x));
  CHECK(cudaFree(img));
}
