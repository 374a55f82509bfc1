#include <stdio.h>
#include <cuda_runtime.h>

#define ALLOC(p, n) cudaMalloc((void**)&(p), (n) * sizeof(*(p)))
#define PUT(d, h, n) cudaMemcpy(d, h, (n) * sizeof(*(d)), cudaMemcpyHostToDevice)
#define GET(h, d, n) cudaMemcpy(h, d, (n) * sizeof(*(h)), cudaMemcpyDeviceToHost)
#define BLOCKS(n, b) (((n) + (b) - 1) / (b))

__global__ void doubleAll(float* p, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) p[i] += p[i];
}

__global__ void invertAll(int* p, int rows, int columns) {
  int row = blockIdx.y, col = threadIdx.x + blockIdx.x * blockDim.x;
  if (col < columns) p[row * columns + col] = 255 - p[row * columns + col];
}

__global__ void hello(void) {
  if (!threadIdx.x) printf("%d %d\n", blockIdx.x, blockDim.x);
}

void solve(float* a, int* image, int n, int rows, int columns) {
  float* dev_a;
  int* dev_image;
  ALLOC(dev_a, n);
  ALLOC(dev_image, rows * columns);
  PUT(dev_a, a, n);
  PUT(dev_image, image, rows * columns);
  hello<<<2, 64>>>();
  doubleAll<<<BLOCKS(n, 128), 128>>>(dev_a, n);
  dim3 grid(BLOCKS(columns, 64), rows);
  invertAll<<<grid, 64>>>(dev_image, rows, columns);
  GET(a, dev_a, n);
  GET(image, dev_image, rows * columns);
  cudaFree(dev_a);
  cudaFree(dev_image);
}
