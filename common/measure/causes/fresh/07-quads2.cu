#include "check.h"

using f4 = float4;

constexpr int R = 64, C = 64, K = 32;  // tile of P: R x C, K steps at a time
constexpr int GAP = 4;                 // keeps rows of the left tile apart, still 16-byte aligned

__device__ __forceinline__ void axpy(f4& acc, float a, const f4& x) {
  acc.x += a * x.x;
  acc.y += a * x.y;
  acc.z += a * x.z;
  acc.w += a * x.w;
}

// A matrix seen in groups of four columns.
template <typename Float>
class Quads {
  Float* data_;
  int rows_, cols_;

 public:
  __device__ Quads(Float* data, int rows, int cols) : data_(data), rows_(rows), cols_(cols) {}

  __device__ bool aligned() const { return (cols_ & 3) == 0; }
  __device__ int inside(int row, int col) const {  // how many of the four exist
    return row < rows_ ? max(0, min(4, cols_ - col)) : 0;
  }
  __device__ Float* at(int row, int col) const { return data_ + size_t(row) * cols_ + col; }

  __device__ f4 get(int row, int col) const {
    f4 q = make_float4(0.f, 0.f, 0.f, 0.f);
    const int n = inside(row, col);
    if (n == 0) return q;
    const float* p = at(row, col);
    if (aligned()) return *(const f4*)p;
    switch (n) {
      case 4: q.w = p[3];  // falls through
      case 3: q.z = p[2];
      case 2: q.y = p[1];
      default: q.x = p[0];
    }
    return q;
  }

  __device__ void put(int row, int col, f4 q) const {
    const int n = inside(row, col);
    if (n == 0) return;
    float* p = at(row, col);
    if (aligned()) {
      *(f4*)p = q;
      return;
    }
    p[0] = q.x;
    if (n > 1) p[1] = q.y;
    if (n > 2) p[2] = q.z;
    if (n > 3) p[3] = q.w;
  }
};

__global__ void quads_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ f4 ms[R][(K + GAP) / 4];
  __shared__ f4 ns[K][C / 4];
  const int id = threadIdx.x, tx = id & 15, ty = id >> 4;
  const int top = blockIdx.y * R, left = blockIdx.x * C;
  const Quads<const float> m(M, j, k), n(N, k, l);
  const Quads<float> p(P, j, l);

  f4 acc[4] = {};
  for (int z = 0; z < k; z += K) {
    for (int q = id; q < R * K / 4; q += 256) ms[q / (K / 4)][q % (K / 4)] = m.get(top + q / (K / 4), z + q % (K / 4) * 4);
    for (int q = id; q < K * C / 4; q += 256) ns[q / (C / 4)][q % (C / 4)] = n.get(z + q / (C / 4), left + q % (C / 4) * 4);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < K / 4; ++q) {
      const f4 b0 = ns[4 * q][tx], b1 = ns[4 * q + 1][tx], b2 = ns[4 * q + 2][tx], b3 = ns[4 * q + 3][tx];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const f4 a = ms[ty + 16 * r][q];
        axpy(acc[r], a.x, b0);
        axpy(acc[r], a.y, b1);
        axpy(acc[r], a.z, b2);
        axpy(acc[r], a.w, b3);
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) p.put(top + ty + 16 * r, left + 4 * tx, acc[r]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto tiles = [](int n, int size) { return (n - 1) / size + 1; };
  const dim3 grid(tiles(l, C), tiles(j, R));
  quads_kernel<<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
