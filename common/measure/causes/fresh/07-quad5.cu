// Lab 07: 128 threads, 8 x 4 results each. Quads instead of float4_at everywhere.
#include "check.h"

struct alignas(16) Quad {
  float v[4];
};

constexpr int BM = 64, BN = 64, BK = 16;
constexpr int QK = BK / 4, QN = BN / 4;  // quads in a row of the tiles
constexpr int X = 16, Y = 8;             // threads of a block
constexpr int R = BM / Y;                // rows of a thread

// A matrix in global memory, read and written four columns at a time.
template <typename F>
struct Matrix {
  F* data;
  int rows, cols;

  __device__ bool whole() const { return (cols & 3) == 0; }

  __device__ Quad load(int row, int col) const {
    Quad q = {{0, 0, 0, 0}};
    if (row >= rows || col >= cols) return q;
    F* p = data + size_t(row) * cols + col;
    if (whole()) return *reinterpret_cast<const Quad*>(p);
    int there = min(4, cols - col);
#pragma unroll
    for (int c = 0; c < 4; ++c)
      if (c < there) q.v[c] = p[c];
    return q;
  }

  __device__ void store(int row, int col, const Quad& q) const {
    if (row >= rows || col >= cols) return;
    F* p = data + size_t(row) * cols + col;
    if (whole()) {
      *reinterpret_cast<Quad*>(p) = q;
      return;
    }
    p[0] = q.v[0];
    if (col + 1 < cols) p[1] = q.v[1];
    if (col + 2 < cols) p[2] = q.v[2];
    if (col + 3 < cols) p[3] = q.v[3];
  }
};

__global__ void quads(Matrix<const float> M, Matrix<const float> N, Matrix<float> P) {
  __shared__ Quad ms[BM][QK];
  __shared__ Quad ns[BK][QN];
  const int x = threadIdx.x, y = threadIdx.y, id = y * X + x;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;

  Quad sum[R] = {};
  for (int k0 = 0; k0 < M.cols; k0 += BK) {
    for (int e = id; e < BM * QK; e += X * Y) {
      ms[e / QK][e % QK] = M.load(row0 + e / QK, k0 + e % QK * 4);
    }
    for (int e = id; e < BK * QN; e += X * Y) {
      ns[e / QN][e % QN] = N.load(k0 + e / QN, col0 + e % QN * 4);
    }
    __syncthreads();

    for (int g = 0; g < QK; ++g) {
      Quad n[4];
      for (int s = 0; s < 4; ++s) n[s] = ns[4 * g + s][x];
      for (int r = 0; r < R; ++r) {
        const Quad m = ms[y + r * Y][g];
        for (int s = 0; s < 4; ++s)
          for (int c = 0; c < 4; ++c) sum[r].v[c] += m.v[s] * n[s].v[c];
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < R; ++r) P.store(row0 + y + r * Y, col0 + 4 * x, sum[r]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 blocks((l + BN - 1) / BN, (j + BM - 1) / BM);
  dim3 threads(X, Y);
  quads<<<blocks, threads>>>({M, j, k}, {N, k, l}, {P, j, l});
  CHECK(cudaGetLastError());
}
