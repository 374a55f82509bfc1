// Lab 06: each thread keeps its column of A and its row of B and walks.
#include "check.h"

constexpr int B = 64, D = 16, Q = 4;
constexpr int PITCH = B + 2;  // see handout: 2 * i + r covers all banks

__host__ __device__ constexpr int pieces(int n, int size) { return n / size + (n % size > 0); }

__global__ void walker(const float* A, const float* Bm, float* C, int nr, int nk, int nc) {
  __shared__ float at[D * PITCH];  // at[i * PITCH + r]
  __shared__ float bt[D * B];      // bt[i * B + c]

  const int t = threadIdx.x;       // 256 of them
  const int px = t % 16, py = t / 16;
  const int r0 = blockIdx.y * B, c0 = blockIdx.x * B;

  // what I fetch: column px of A's tile, rows py, py+16, ..; column t%64 of B's, rows t/64, +4, ..
  const int bc = t % B, bi = t / B;
  const float* pa = A + size_t(r0 + py) * nk + px;
  const float* pb = Bm + size_t(bi) * nc + c0 + bc;
  int kleft = nk;

  float acc[Q][Q] = {};
  for (int ph = pieces(nk, D); ph > 0; --ph) {
    const float* walk = pa;
    for (int r = py; r < B; r += 16) {
      at[px * PITCH + r] = (r0 + r < nr && px < kleft) ? *walk : 0.f;
      walk += size_t(16) * nk;
    }
    walk = pb;
    for (int i = bi; i < D; i += 4) {
      bt[i * B + bc] = (i < kleft && c0 + bc < nc) ? *walk : 0.f;
      walk += size_t(4) * nc;
    }
    __syncthreads();

    const float* sa = at + py * Q;
    const float* sb = bt + px;
    for (int i = 0; i < D; ++i) {
      float u[Q], v[Q];
      for (int q = 0; q < Q; ++q) u[q] = sa[q];
      for (int q = 0; q < Q; ++q) v[q] = sb[16 * q];
      for (int p = 0; p < Q; ++p)
        for (int q = 0; q < Q; ++q) acc[p][q] += u[p] * v[q];
      sa += PITCH;
      sb += B;
    }
    pa += D;
    pb += size_t(D) * nc;
    kleft -= D;
    __syncthreads();
  }

  for (int p = 0; p < Q; ++p) {
    const int r = r0 + py * Q + p;
    if (r >= nr) continue;
    float* line = C + size_t(r) * nc;
    for (int q = 0; q < Q; ++q) {
      const int c = c0 + px + 16 * q;
      if (c < nc) line[c] = acc[p][q];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  walker<<<dim3(pieces(l, B), pieces(j, B)), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
