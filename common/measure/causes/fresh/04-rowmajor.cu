#include "check.h"

class Dense {
 public:
  Dense(const float* values, int rows, int cols) : v(values), r(rows), c(cols) {}
  __device__ float at(int i, int q) const {
    bool outside = i < 0 || i >= r || q < 0 || q >= c;
    return outside ? 0.0f : v[static_cast<long>(i) * c + q];
  }
  __host__ __device__ int rows() const { return r; }
  __host__ __device__ int cols() const { return c; }

 private:
  const float* v;
  int r, c;
};

constexpr int S = 8;

__global__ void times(Dense a, Dense b, float* out) {
  __shared__ float as[S][S + 1];
  __shared__ float bs[S][S + 1];
  const int id = threadIdx.x;
  const int u = id / S;
  const int v = id - u * S;
  const int i = blockIdx.y * S + u;
  const int q = blockIdx.x * S + v;
  float sum = 0;
  int p = 0;
  while (p * S < a.cols()) {
    as[u][v] = a.at(i, p * S + v);
    bs[u][v] = b.at(p * S + u, q);
    __syncthreads();
    for (int e = S - 1; e >= 0; --e) sum += as[u][e] * bs[e][v];
    __syncthreads();
    ++p;
  }
  if (i >= a.rows()) return;
  if (q < b.cols()) out[static_cast<long>(i) * b.cols() + q] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Dense a(M, j, k), b(N, k, l);
  dim3 blocks((l + S - 1) / S, (j + S - 1) / S);
  times<<<blocks, S * S>>>(a, b, P);
  CHECK(cudaGetLastError());
}
