// Lab 09 with warp tiles of 32 x 64: 4 rows and 8 columns of lanes.
#include "check.h"
#include "copy_async.h"

enum : int {
  BR = 128, BC = 128,    // block
  WR = 32, WC = 64,      // warp
  LR = 4, LC = 8,        // lanes
  KB = 16,
  NWARPS = 8, NTHREADS = 256,
  MPITCH = KB + 4, OPITCH = WC + 16
};

struct Job { const float *M, *N; float* P; int j, k, l; };

union Vec { float4 v; float f[4]; };

__device__ __forceinline__ void vload(Vec& to, const float* from) { to.v = *(const float4*)from; }

__device__ void fetch4(float* to, const float* base, int rows, int cols, int r, int c) {
  const float* p = base + (size_t)r * cols + c;
  if (cols % 4) {
    for (int q = 0; q < 4; q++) {
      const int ok = r < rows && c + q < cols;
      copy_async<4>(to + q, ok ? p + q : base, ok);
    }
  } else {
    const int ok = r < rows && c < cols;
    copy_async<16>(to, ok ? p : base, ok);
  }
}

__global__ void __launch_bounds__(NTHREADS, 2) wide(Job job) {
  __shared__ alignas(16) float ms[2][BR * MPITCH];
  __shared__ alignas(16) float ns[2][KB * BC];
  __shared__ alignas(16) float exit_[NWARPS][LR * OPITCH];

  const int t = threadIdx.x, w = t >> 5, ln = t & 31;
  const int R = blockIdx.y * BR, C = blockIdx.x * BC;
  const int wr = (w >> 1) * WR, wc = (w & 1) * WC;
  // bits of the lane: 4 3 2 1 0 = x2 y1 x1 y0 x0
  const int ly = ((ln >> 1) & 1) | ((ln >> 3) & 1) << 1;
  const int lx = (ln & 1) | ((ln >> 2) & 1) << 1 | (ln >> 4) << 2;

  auto order = [&](int k0, int stage) {
    for (int g = t; g < BR * KB / 4; g += NTHREADS) {
      const int r = g >> 2, c = (g & 3) << 2;
      fetch4(&ms[stage][r * MPITCH + c], job.M, job.j, job.k, R + r, k0 + c);
    }
    for (int g = t; g < KB * BC / 4; g += NTHREADS) {
      const int r = g >> 5, c = (g & 31) << 2;
      fetch4(&ns[stage][r * BC + c], job.N, job.k, job.l, k0 + r, C + c);
    }
    __pipeline_commit();
  };

  alignas(16) float acc[8][8] = {};
  int cur = 0;
  order(0, cur);
  for (int k0 = 0; k0 < job.k; k0 += KB) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + KB < job.k) order(k0 + KB, cur ^ 1);

    const float* mrow = ms[cur] + (wr + ly) * MPITCH;
    const float* ncol = ns[cur] + wc + 4 * lx;
    for (int i = 0; i < KB; i += 4) {
      Vec a[8], b[2];
      for (int r = 0; r < 8; r++) vload(a[r], mrow + r * LR * MPITCH + i);
      for (int s = 0; s < 4; s++) {
        vload(b[0], ncol + (i + s) * BC);
        vload(b[1], ncol + (i + s) * BC + 4 * LC);
        for (int r = 0; r < 8; r++)
          for (int c = 0; c < 8; c++) acc[r][c] += a[r].f[s] * b[c >> 2].f[c & 3];
      }
    }
    cur ^= 1;
  }

  float* ex = exit_[w];
  for (int r = 0; r < 8; r++) {
    *(float4*)(ex + ly * OPITCH + 4 * lx) = *(float4*)&acc[r][0];
    *(float4*)(ex + ly * OPITCH + 4 * lx + 4 * LC) = *(float4*)&acc[r][4];
    __syncwarp();
    for (int q = 0; q < LR * 2; q++) {
      const int line = q >> 1, c = (q & 1) * 32 + ln;
      const int gr = R + wr + r * LR + line, gc = C + wc + c;
      if (gr < job.j && gc < job.l) job.P[(size_t)gr * job.l + gc] = ex[line * OPITCH + c];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Job job = {M, N, P, j, k, l};
  dim3 grid((l + BC - 1) / BC, (j + BR - 1) / BR);
  wide<<<grid, NTHREADS>>>(job);
  CHECK(cudaGetLastError());
}
