#include "check.h"

namespace mat {

template <typename T>
struct View {
  T* data;
  int rows, cols;

  __device__ bool has(int r, int c) const { return r < rows && c < cols; }
  __device__ T& operator()(int r, int c) const {
    return data[static_cast<long long>(r) * cols + c];
  }
  __device__ float get_or_zero(int r, int c) const { return has(r, c) ? (*this)(r, c) : 0.0f; }
};

constexpr int kTile = 16;

struct Tile {
  float v[kTile][kTile];
};

__device__ void load(Tile& t, View<const float> from, int top, int left) {
  t.v[threadIdx.y][threadIdx.x] = from.get_or_zero(top + threadIdx.y, left + threadIdx.x);
}

__global__ void product(View<const float> a, View<const float> b, View<float> c) {
  __shared__ Tile ta, tb;
  const int top = blockIdx.y * kTile;
  const int left = blockIdx.x * kTile;

  float value = 0.0f;
  for (int depth = 0; depth < a.cols; depth += kTile) {
    load(ta, a, top, depth);
    load(tb, b, depth, left);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) value += ta.v[threadIdx.y][i] * tb.v[i][threadIdx.x];
    __syncthreads();
  }

  const int r = top + threadIdx.y, c_ = left + threadIdx.x;
  if (c.has(r, c_)) c(r, c_) = value;
}

int tiles(int length) { return length / kTile + (length % kTile > 0 ? 1 : 0); }

}  // namespace mat

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  mat::View<const float> a{M, j, k};
  mat::View<const float> b{N, k, l};
  mat::View<float> c{P, j, l};
  const dim3 grid(mat::tiles(c.cols), mat::tiles(c.rows));
  mat::product<<<grid, dim3(mat::kTile, mat::kTile)>>>(a, b, c);
  CHECK(cudaGetLastError());
}
