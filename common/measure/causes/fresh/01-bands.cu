// bands of rows, each in its stream, by way of pinned memory
#include <cstring>
#include <vector>

#include "check.h"

__global__ void band(const float* a, const float* b, float* c, int rows, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += a[row * n + i] * b[i * n + col];
    c[row * n + col] = sum;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const int BANDS = 3;
  const size_t all = size_t(width) * width;
  const int rowsPerBand = (width + BANDS - 1) / BANDS;
  float *pinned, *d_a, *d_b, *d_c;
  CHECK(cudaMallocHost(&pinned, 2 * all * sizeof(float)));
  float* in = pinned;
  float* out = pinned + all;
  std::memcpy(in, M, all * sizeof(float));
  CHECK(cudaMalloc(&d_a, all * sizeof(float)));
  CHECK(cudaMalloc(&d_b, all * sizeof(float)));
  CHECK(cudaMalloc(&d_c, all * sizeof(float)));
  CHECK(cudaMemcpy(d_b, N, all * sizeof(float), cudaMemcpyHostToDevice));
  std::vector<cudaStream_t> streams(BANDS);
  for (auto& s : streams) CHECK(cudaStreamCreate(&s));
  for (int i = 0; i < BANDS; i++) {
    const int first = i * rowsPerBand;
    const int rows = first + rowsPerBand <= width ? rowsPerBand : width - first;
    if (rows <= 0) break;
    const size_t at = size_t(first) * width, bytes = size_t(rows) * width * sizeof(float);
    CHECK(cudaMemcpyAsync(d_a + at, in + at, bytes, cudaMemcpyHostToDevice, streams[i]));
    band<<<dim3((width + 31) / 32, (rows + 7) / 8), dim3(32, 8), 0, streams[i]>>>(d_a + at, d_b, d_c + at, rows, width);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(out + at, d_c + at, bytes, cudaMemcpyDeviceToHost, streams[i]));
  }
  for (auto& s : streams) CHECK(cudaStreamSynchronize(s));
  std::memcpy(P, out, all * sizeof(float));
  for (auto& s : streams) CHECK(cudaStreamDestroy(s));
  for (float* d : {d_a, d_b, d_c}) CHECK(cudaFree(d));
  CHECK(cudaFreeHost(pinned));
}
