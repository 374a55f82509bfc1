// Assignment 1: dense matrix product, with memory that frees itself
#include <cuda_runtime.h>

#include <cstdio>

class DeviceMatrix {
 public:
  DeviceMatrix(int rows, int cols) : rows_(rows), cols_(cols) {
    cudaMalloc(reinterpret_cast<void**>(&data_), bytes());
  }
  ~DeviceMatrix() { cudaFree(data_); }

  void upload(const float* from) { cudaMemcpy(data_, from, bytes(), cudaMemcpyHostToDevice); }
  void download(float* to) const { cudaMemcpy(to, data_, bytes(), cudaMemcpyDeviceToHost); }
  float* data() const { return data_; }
  int cols() const { return cols_; }

 private:
  size_t bytes() const { return static_cast<size_t>(rows_) * cols_ * sizeof(float); }
  int rows_, cols_;
  float* data_ = nullptr;
};

__global__ void gemm(const float* a, const float* b, float* c, int n) {
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n || s >= n) return;
  float acc = 0.f;
  for (int i = 0; i < n; i++) acc += a[r * n + i] * b[i * n + s];
  c[r * n + s] = acc;
}

static void multiply(const DeviceMatrix& a, const DeviceMatrix& b, const DeviceMatrix& c) {
  const dim3 threads(32, 8);
  const dim3 blocks((b.cols() + 31) / 32, (a.cols() + 7) / 8);
  gemm<<<blocks, threads>>>(a.data(), b.data(), c.data(), a.cols());
}

void solve(const float* M, const float* N, float* P, int width) {
  DeviceMatrix a(width, width), b(width, width), c(width, width);
  a.upload(M);
  b.upload(N);
  multiply(a, b, c);
  c.download(P);
}
