// Style: a template kernel with a device function and a lambda inside; a host lambda launches

#include "check.h"

template <typename T>
__device__ T inner_product(const T* row, const T* column, int count, int stride) {
  T sum = 0;
#pragma unroll 4
  for (int k = 0; k < count; ++k) sum += row[k] * column[k * stride];
  return sum;
}

template <typename T, int Width, int Height>
__global__ void naive_kernel(const T* M, const T* N, T* P, int width) {
  int row = blockIdx.y * Height + threadIdx.y;
  int col = blockIdx.x * Width + threadIdx.x;
  auto inside = [width](int index) { return index < width; };
  if (inside(row) && inside(col)) {
    P[row * width + col] = inner_product(M + row * width, N + col, width, width);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t bytes = sizeof(float) * width * width;
  auto to_device = [bytes](const float* host) {
    float* device = nullptr;
    CHECK(cudaMalloc(&device, bytes));
    if (host != nullptr) CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    return device;
  };
  float *d_M = to_device(M), *d_N = to_device(N), *d_P = to_device(nullptr);
  auto blocks = [width](int side) { return unsigned(width + side - 1) / side; };
  naive_kernel<float, 32, 4><<<dim3(blocks(32), blocks(4)), dim3(32, 4)>>>(d_M, d_N, d_P, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(P, d_P, bytes, cudaMemcpyDeviceToHost));
  for (float* device : {d_M, d_N, d_P}) CHECK(cudaFree(device));
}
