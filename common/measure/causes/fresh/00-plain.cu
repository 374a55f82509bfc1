#include <cstdio>

#include "check.h"

__global__ void scale_kernel(float* data, int count) {
  int idx = threadIdx.x + blockDim.x * blockIdx.x;
  if (idx >= count) return;
  data[idx] *= 2.0f;
}

__global__ void negative_kernel(int* pix, int h, int w) {
  int px = blockDim.x * blockIdx.x + threadIdx.x;
  int py = blockDim.y * blockIdx.y + threadIdx.y;
  if (px < w && py < h) {
    int at = py * w + px;
    pix[at] = 255 - pix[at];
  }
}

__global__ void hello_kernel() {
  if (threadIdx.x == 0) printf("block %d of %d threads\n", blockIdx.x, blockDim.x);
}

void solve(float* a, int* image, int n, int rows, int columns) {
  float* dev_a;
  int* dev_image;
  int pixels = rows * columns;
  cudaMalloc((void**)&dev_a, n * sizeof(float));
  cudaMalloc((void**)&dev_image, pixels * sizeof(int));
  cudaMemcpy(dev_a, a, n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dev_image, image, pixels * sizeof(int), cudaMemcpyHostToDevice);

  hello_kernel<<<2, 64>>>();

  int threads = 128;
  int blocks = (n + threads - 1) / threads;
  scale_kernel<<<blocks, threads>>>(dev_a, n);

  dim3 tpb(16, 16);
  dim3 bpg((columns + tpb.x - 1) / tpb.x, (rows + tpb.y - 1) / tpb.y);
  negative_kernel<<<bpg, tpb>>>(dev_image, rows, columns);
  cudaDeviceSynchronize();

  cudaMemcpy(a, dev_a, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(image, dev_image, pixels * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dev_a);
  cudaFree(dev_image);
}
