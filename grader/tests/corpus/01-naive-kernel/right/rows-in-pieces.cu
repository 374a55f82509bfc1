// Style: copies row by row, launches per band of 16 rows

#include "check.h"

__global__ void band(const float* M, const float* N, float* P, int width, int first_row) {
  int row = first_row + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= width || col >= width) return;
  float sum = 0.0f;
  for (int k = width - 1; k >= 0; --k) sum = fmaf(M[row * width + k], N[k * width + col], sum);
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t row_bytes = sizeof(float) * width;
  float *d_M, *d_N, *d_P;
  CHECK(cudaMalloc(&d_M, row_bytes * width));
  CHECK(cudaMalloc(&d_N, row_bytes * width));
  CHECK(cudaMalloc(&d_P, row_bytes * width));
  for (int row = 0; row < width; ++row) {
    CHECK(cudaMemcpy(d_M + row * width, M + row * width, row_bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_N + row * width, N + row * width, row_bytes, cudaMemcpyHostToDevice));
  }
  for (int row = 0; row < width; row += 16) {
    band<<<(width + 15) / 16, dim3(16, 16)>>>(d_M, d_N, d_P, width, row);
    CHECK(cudaGetLastError());
  }
  for (int row = 0; row < width; ++row) {
    CHECK(cudaMemcpy(P + row * width, d_P + row * width, row_bytes, cudaMemcpyDeviceToHost));
  }
  CHECK(cudaFree(d_M));
  CHECK(cudaFree(d_N));
  CHECK(cudaFree(d_P));
}
