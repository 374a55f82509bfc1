// the sum in two halves of k, each with its own partial product, added by a second kernel
#include "check.h"

constexpr int S = 16;

__global__ void partial(const float* a, const float* b, float* c, int rows, int inner, int cols, int from, int to) {
  __shared__ float p[S][S], q[S][S];
  const int r = blockIdx.y * S + threadIdx.y, s = blockIdx.x * S + threadIdx.x;
  float sum = 0.0f;
  for (int at = from; at < to; at += S) {
    const int u = at + threadIdx.x, v = at + threadIdx.y;
    p[threadIdx.y][threadIdx.x] = r < rows && u < to ? a[size_t(r) * inner + u] : 0.0f;
    q[threadIdx.y][threadIdx.x] = v < to && s < cols ? b[size_t(v) * cols + s] : 0.0f;
    __syncthreads();
    for (int i = 0; i < S; i++) sum += p[threadIdx.y][i] * q[i][threadIdx.x];
    __syncthreads();
  }
  if (r < rows && s < cols) c[size_t(r) * cols + s] = sum;
}

__global__ void join(float* c, const float* other, size_t n) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) c[i] += other[i];
}

class Scratch {
 public:
  explicit Scratch(size_t count) { CHECK(cudaMalloc(&p_, count * sizeof(float))); }
  ~Scratch() { CHECK(cudaFree(p_)); }
  float* operator()() const { return p_; }

 private:
  float* p_;
};

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const size_t elements = size_t(j) * l;
  Scratch second(elements);
  const dim3 threads(S, S), blocks((l + S - 1) / S, (j + S - 1) / S);
  const int middle = k / 2;
  partial<<<blocks, threads>>>(M, N, P, j, k, l, 0, middle);
  partial<<<blocks, threads>>>(M, N, second(), j, k, l, middle, k);
  CHECK(cudaGetLastError());
  join<<<unsigned((elements + 255) / 256), 256>>>(P, second(), elements);
  CHECK(cudaGetLastError());
}
