// Style: rows padded by cudaMallocPitch, copied with cudaMemcpy2D

#include "check.h"

// pitch: floats from one row to the next
__global__ void naive_kernel(const float* M, const float* N, float* P, int width, size_t pitch) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < width && col < width) {
    float sum = 0.0f;
    for (int k = 0; k < width; ++k) sum += M[row * pitch + k] * N[k * pitch + col];
    P[row * pitch + col] = sum;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t row_bytes = sizeof(float) * width, pitch = 0;
  float *d_M, *d_N, *d_P;
  CHECK(cudaMallocPitch(&d_M, &pitch, row_bytes, width));
  CHECK(cudaMallocPitch(&d_N, &pitch, row_bytes, width));
  CHECK(cudaMallocPitch(&d_P, &pitch, row_bytes, width));
  CHECK(cudaMemcpy2D(d_M, pitch, M, row_bytes, row_bytes, width, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2D(d_N, pitch, N, row_bytes, row_bytes, width, cudaMemcpyHostToDevice));
  dim3 block(16, 16), grid((width + 15) / 16, (width + 15) / 16);
  naive_kernel<<<grid, block>>>(d_M, d_N, d_P, width, pitch / sizeof(float));
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(P, row_bytes, d_P, pitch, row_bytes, width, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_M));
  CHECK(cudaFree(d_N));
  CHECK(cudaFree(d_P));
}
