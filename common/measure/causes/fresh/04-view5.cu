#include "check.h"

constexpr int kTile = 16;

template <typename Real>
struct View {
  Real* ptr;
  int rows, cols;

  __host__ __device__ bool has(int r, int c) const { return r < rows && c < cols; }
  __device__ Real& operator()(int r, int c) const {
    return ptr[static_cast<size_t>(r) * cols + c];
  }
  __device__ float get(int r, int c) const { return has(r, c) ? (*this)(r, c) : 0.0f; }
};

using In = View<const float>;
using Out = View<float>;

__global__ void product(In a, In b, Out c) {
  __shared__ float aa[kTile][kTile], bb[kTile][kTile];
  const int dx = threadIdx.x, dy = threadIdx.y;
  const int r = blockIdx.y * kTile + dy;
  const int s = blockIdx.x * kTile + dx;

  auto load = [&](int first) {
    aa[dy][dx] = a.get(r, first + dx);
    bb[dy][dx] = b.get(first + dy, s);
  };

  float result = 0.0f;
  for (int first = 0; first < a.cols; first += kTile) {
    load(first);
    __syncthreads();
    for (int t = 0; t < kTile; ++t) result += aa[dy][t] * bb[t][dx];
    __syncthreads();
  }
  if (c.has(r, s)) c(r, s) = result;
}

static int tiles(int extent) {
  return extent / kTile + (extent % kTile != 0);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const In a{M, j, k};
  const In b{N, k, l};
  const Out c{P, j, l};
  const dim3 grid(tiles(c.cols), tiles(c.rows));
  product<<<grid, dim3(kTile, kTile)>>>(a, b, c);
  CHECK(cudaGetLastError());
}
