// the matrices are copied into padded ones on the device, so that the kernel needs no guard
#include "check.h"

constexpr int T = 16;
constexpr int up(int a) { return (a + T - 1) / T * T; }

__global__ void padded(const float* a, const float* b, float* c, int k, int l) {
  __shared__ float as[T][T], bs[T][T];
  const int r = blockIdx.y * T + threadIdx.y, s = blockIdx.x * T + threadIdx.x;
  float v = 0.f;
  for (int o = 0; o < k; o += T) {
    as[threadIdx.y][threadIdx.x] = a[r * k + o + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(o + threadIdx.y) * l + s];
    __syncthreads();
    for (int i = 0; i < T; ++i) v += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[r * l + s] = v;
}

struct Sheet {
  float* at = nullptr;
  int rows, columns;
  Sheet(int r, int c) : rows(up(r)), columns(up(c)) {
    CHECK(cudaMalloc(&at, sizeof(float) * rows * columns));
    CHECK(cudaMemset(at, 0, sizeof(float) * rows * columns));
  }
  ~Sheet() { CHECK(cudaFree(at)); }
  void take(const float* from, int r, int c) {
    CHECK(cudaMemcpy2D(at, columns * sizeof(float), from, c * sizeof(float), c * sizeof(float), r, cudaMemcpyDeviceToDevice));
  }
  void give(float* to, int r, int c) const {
    CHECK(cudaMemcpy2D(to, c * sizeof(float), at, columns * sizeof(float), c * sizeof(float), r, cudaMemcpyDeviceToDevice));
  }
};

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Sheet a(j, k), b(k, l), c(j, l);
  a.take(M, j, k);
  b.take(N, k, l);
  padded<<<dim3(c.columns / T, c.rows / T), dim3(T, T)>>>(a.at, b.at, c.at, a.columns, c.columns);
  CHECK(cudaGetLastError());
  c.give(P, j, l);
}
