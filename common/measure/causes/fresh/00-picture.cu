#include <cstdio>

#include <cuda_runtime.h>

struct Picture {
  int* pixel;
  int height;
  int width;
};

template <typename T>
T* upload(const T* from, size_t count) {
  T* there = nullptr;
  cudaMalloc(&there, count * sizeof(T));
  cudaMemcpy(there, from, count * sizeof(T), cudaMemcpyHostToDevice);
  return there;
}

__global__ void twice(float* values, int length) {
  const int first = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (first < length) values[first] *= 2.0f;
  if (first + 1 < length) values[first + 1] *= 2.0f;
}

__device__ bool holds(const Picture& p, int r, int c) {
  return r < p.height && c < p.width;
}

__global__ void negate(Picture p) {
  int c = threadIdx.x + blockDim.x * blockIdx.x;
  int r = threadIdx.y + blockDim.y * blockIdx.y;
  if (holds(p, r, c)) {
    int* here = p.pixel + r * p.width + c;
    *here = 255 - *here;
  }
}

__global__ void hello() {
  if (threadIdx.x == 0) printf("%d of %d\n", blockIdx.x, blockDim.x);
}

void solve(float* a, int* image, int n, int rows, int columns) {
  float* da = upload(a, n);
  Picture p = {upload(image, size_t(rows) * columns), rows, columns};

  hello<<<2, 64>>>();
  const int threads = 64;
  const int pairs = (n + 1) / 2;
  twice<<<(pairs + threads - 1) / threads, threads>>>(da, n);

  dim3 block(32, 8);
  dim3 grid((p.width + block.x - 1) / block.x, (p.height + block.y - 1) / block.y);
  negate<<<grid, block>>>(p);

  cudaMemcpy(a, da, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(image, p.pixel, sizeof(int) * rows * columns, cudaMemcpyDeviceToHost);
  cudaFree(da);
  cudaFree(p.pixel);
}
