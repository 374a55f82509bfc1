// Lab 06 - padded tile, next phase's elements wait in registers (lab 05, exercise 3)
#include "check.h"

typedef unsigned int uint;

struct Params {
  const float *m, *n;
  float* p;
  int j, k, l;
};

static const int EDGE = 64, DEEP = 16, PATCH = 4, SIDE = EDGE / PATCH;
static const int NT = SIDE * SIDE, EACH = EDGE * DEEP / NT;

class PaddedTile {
  float words[DEEP][EDGE + 2];

 public:
  __device__ void set(int deep, int across, float v) { words[deep][across] = v; }
  __device__ float get(int deep, int across) const { return words[deep][across]; }
};

struct Fetched {
  float m[EACH], n[EACH];

  __device__ void load(const Params& a, int tid, int row0, int col0, int k0) {
#pragma unroll
    for (int s = 0; s < EACH; ++s) {
      const int e = tid + s * NT;
      const int mr = row0 + e / DEEP, mc = k0 + e % DEEP;
      const int nr = k0 + e / EDGE, nc = col0 + e % EDGE;
      m[s] = mr < a.j && mc < a.k ? a.m[size_t(mr) * a.k + mc] : 0.0f;
      n[s] = nr < a.k && nc < a.l ? a.n[size_t(nr) * a.l + nc] : 0.0f;
    }
  }
  __device__ void store(PaddedTile& tm, float (*tn)[EDGE], int tid) const {
#pragma unroll
    for (int s = 0; s < EACH; ++s) {
      const int e = tid + s * NT;
      tm.set(e % DEEP, e / DEEP, m[s]);
      tn[e / EDGE][e % EDGE] = n[s];
    }
  }
};

__global__ void prefetching(Params a) {
  __shared__ PaddedTile tm;
  __shared__ float tn[DEEP][EDGE];
  const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * SIDE + tx;
  const int row0 = blockIdx.y * EDGE, col0 = blockIdx.x * EDGE;

  Fetched next;
  next.load(a, tid, row0, col0, 0);
  float s[PATCH][PATCH] = {};
  for (int k0 = 0; k0 < a.k; k0 += DEEP) {
    next.store(tm, tn, tid);
    __syncthreads();
    if (k0 + DEEP < a.k) next.load(a, tid, row0, col0, k0 + DEEP);
    for (int i = 0; i < DEEP; ++i) {
      float f[PATCH], g[PATCH];
      for (int q = 0; q < PATCH; ++q) {
        f[q] = tm.get(i, ty * PATCH + q);
        g[q] = tn[i][tx + q * SIDE];
      }
      for (int q = 0; q < PATCH * PATCH; ++q) s[q / PATCH][q % PATCH] += f[q / PATCH] * g[q % PATCH];
    }
    __syncthreads();
  }

  for (int q = 0; q < PATCH * PATCH; ++q) {
    const int row = row0 + ty * PATCH + q / PATCH;
    const int col = col0 + tx + q % PATCH * SIDE;
    if (row < a.j && col < a.l) a.p[size_t(row) * a.l + col] = s[q / PATCH][q % PATCH];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Params a;
  a.m = M; a.n = N; a.p = P;
  a.j = j; a.k = k; a.l = l;
  uint across = (l + EDGE - 1) / EDGE, down = (j + EDGE - 1) / EDGE;
  prefetching<<<dim3(across, down), dim3(SIDE, SIDE)>>>(a);
  CHECK(cudaGetLastError());
}
