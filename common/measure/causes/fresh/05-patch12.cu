// Lab 05, Ines. The patch of a thread is a struct with its own operations.
#include "check.h"

constexpr int SIDE = 64;          // of the block's part of P
constexpr int DEPTH = 16;         // of a phase
constexpr int LANES = 16;         // the block is LANES x LANES threads
constexpr int W = SIDE / LANES;   // a patch is W x W elements, LANES apart in both directions

struct Patch {
  float v[W][W];

  __device__ void clear() {
    for (auto& line : v)
      for (float& x : line) x = 0.0f;
  }
  __device__ void rank1(const float (&m)[W], const float (&n)[W]) {
#pragma unroll
    for (int e = 0; e < W * W; ++e) v[e / W][e % W] += m[e / W] * n[e % W];
  }
};

struct Shape {
  int j, k, l;
};

__global__ void patches(const float* M, const float* N, float* P, Shape s) {
  __shared__ float m_tile[SIDE][DEPTH + 1];
  __shared__ float n_tile[DEPTH][SIDE];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;

  Patch patch;
  patch.clear();

  for (int begin = 0; begin < s.k; begin += DEPTH) {
    // DEPTH == LANES: thread (tx, ty) loads column tx of the tile of M, rows ty, ty + 16, ...
#pragma unroll
    for (int y = ty; y < SIDE; y += LANES) {
      bool ok = top + y < s.j && begin + tx < s.k;
      m_tile[y][tx] = ok ? M[size_t(top + y) * s.k + (begin + tx)] : 0.0f;
    }
    // ... and row ty of the tile of N, columns tx, tx + 16, ...
#pragma unroll
    for (int x = tx; x < SIDE; x += LANES) {
      bool ok = begin + ty < s.k && left + x < s.l;
      n_tile[ty][x] = ok ? N[size_t(begin + ty) * s.l + (left + x)] : 0.0f;
    }
    __syncthreads();

    for (int step = 0; step < DEPTH; ++step) {
      float m[W], n[W];
#pragma unroll
      for (int a = 0; a < W; ++a) {
        m[a] = m_tile[ty + a * LANES][step];
        n[a] = n_tile[step][tx + a * LANES];
      }
      patch.rank1(m, n);
    }
    __syncthreads();
  }

#pragma unroll
  for (int e = 0; e < W * W; ++e) {
    const int y = top + ty + e / W * LANES;
    const int x = left + tx + e % W * LANES;
    if (y < s.j && x < s.l) P[size_t(y) * s.l + x] = patch.v[e / W][e % W];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Shape shape{j, k, l};
  auto up = [](int n) { return (n + SIDE - 1) / SIDE; };
  const dim3 grid(up(shape.l), up(shape.j)), block(LANES, LANES);
  patches<<<grid, block>>>(M, N, P, shape);
  CHECK(cudaGetLastError());
}
