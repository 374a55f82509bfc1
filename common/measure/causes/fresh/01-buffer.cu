#include "check.h"

// one matrix in the GPU's memory
struct Buffer {
  float* data;
  size_t bytes;
  Buffer(int rows, int cols) {
    bytes = (size_t)rows * cols * sizeof(float);
    CHECK(cudaMalloc(&data, bytes));
  }
  void upload(const float* host) { CHECK(cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice)); }
  void download(float* host) { CHECK(cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost)); }
  ~Buffer() { cudaFree(data); }
};

__device__ float dot(const float* row, const float* column, int step, int count) {
  float s = 0.0f;
  for (int i = 0; i < count; i++) s = fmaf(row[i], column[(size_t)i * step], s);
  return s;
}

__global__ void product(const float* X, const float* Y, float* Z, int n) {
  int c = threadIdx.x + blockIdx.x * blockDim.x;
  int r = threadIdx.y + blockIdx.y * blockDim.y;
  if (c < n && r < n) Z[r * n + c] = dot(X + r * n, Y + c, n, n);
}

void solve(const float* M, const float* N, float* P, int width) {
  Buffer x(width, width), y(width, width), z(width, width);
  x.upload(M);
  y.upload(N);
  dim3 block(16, 16);
  int g = (width + 15) / 16;
  product<<<dim3(g, g), block>>>(x.data, y.data, z.data, width);
  CHECK(cudaGetLastError());
  z.download(P);
}
