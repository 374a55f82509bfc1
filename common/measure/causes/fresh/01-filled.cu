// matrices filled up to whole blocks on the host, so that the kernel needs no guard
#include <algorithm>
#include <vector>

#include "check.h"

constexpr int SIDE = 16;

__global__ void whole(const float* a, const float* b, float* c, int pitch) {
  int row = blockIdx.y * SIDE + threadIdx.y;
  int col = blockIdx.x * SIDE + threadIdx.x;
  float sum = 0.0f;
  for (int i = 0; i < pitch; i++) sum += a[row * pitch + i] * b[i * pitch + col];
  c[row * pitch + col] = sum;
}

static std::vector<float> filledUp(const float* from, int n, int pitch) {
  std::vector<float> to(pitch * pitch, 0.0f);
  for (int row = 0; row < n; row++) std::copy(from + row * n, from + row * n + n, to.begin() + row * pitch);
  return to;
}

static float* onDevice(const std::vector<float>& v) {
  float* d;
  CHECK(cudaMalloc(&d, v.size() * sizeof(float)));
  CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice));
  return d;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int tiles = (width + SIDE - 1) / SIDE;
  const int pitch = tiles * SIDE;
  float* a = onDevice(filledUp(M, width, pitch));
  float* b = onDevice(filledUp(N, width, pitch));
  float* c;
  CHECK(cudaMalloc(&c, sizeof(float) * pitch * pitch));
  whole<<<dim3(tiles, tiles), dim3(SIDE, SIDE)>>>(a, b, c, pitch);
  CHECK(cudaGetLastError());
  std::vector<float> result(pitch * pitch);
  CHECK(cudaMemcpy(result.data(), c, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int row = 0; row < width; row++)
    for (int col = 0; col < width; col++) P[row * width + col] = result[row * pitch + col];
  for (float* d : {a, b, c}) CHECK(cudaFree(d));
}
