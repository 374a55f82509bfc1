// Fault: no tiles: rows of M go through constant memory, and each element of N is loaded by an atomic

#include "check.h"

constexpr int ROWS = 8;

__constant__ float rows_of_m[8192];  // ROWS rows of M

__global__ void rows_kernel(const float* N, float* P, int width, int first_row) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum[ROWS] = {};
  for (int k = 0; k < width; ++k) {
    float n = __int_as_float(atomicOr((int*)&N[k * width + col], 0));
    for (int r = 0; r < ROWS; ++r) sum[r] += rows_of_m[r * width + k] * n;
  }
  for (int r = 0; r < ROWS; ++r) P[(first_row + r) * width + col] = sum[r];
}

void solve(const float* M, const float* N, float* P, int width) {
  for (int row = 0; row < width; row += ROWS) {
    CHECK(cudaMemcpyToSymbol(rows_of_m, M + row * width, ROWS * width * sizeof(float), 0,
                             cudaMemcpyDeviceToDevice));
    rows_kernel<<<width / 32, 32>>>(N, P, width, row);
    CHECK(cudaGetLastError());
  }
}
