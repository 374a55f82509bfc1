// Lab 08: a ring of three stages in a struct; an (often empty) group is committed every phase.
#include "check.h"
#include "copy_async.h"

constexpr int BM = 64, BN = 64, BK = 16, STAGES = 3, THREADS = 256;

struct Stage {
  alignas(16) float m[BM][BK];
  alignas(16) float n[BK][BN];
};

struct Source {
  const float* base;
  int rows, cols;
  __device__ void fetch(float* dst, int row, int col) const {
    const float* src = base + size_t(row) * cols + col;
    if (cols % 4 != 0) {
      for (int c = 0; c < 4; ++c) {
        bool ok = row < rows && col + c < cols;
        copy_async<4>(dst + c, ok ? src + c : base, ok);
      }
      return;
    }
    bool ok = row < rows && col < cols;
    copy_async<16>(dst, ok ? src : base, ok);
  }
};

__device__ void fill(Stage& st, const Source& M, const Source& N, int row0, int col0, int k0) {
  const int t = threadIdx.x;
  const int mr = t / (BK / 4), mc = t % (BK / 4) * 4;
  M.fetch(&st.m[mr][mc], row0 + mr, k0 + mc);
  const int nr = t / (BN / 4), nc = t % (BN / 4) * 4;
  N.fetch(&st.n[nr][nc], k0 + nr, col0 + nc);
}

__global__ void ring_kernel(Source M, Source N, float* P) {
  __shared__ Stage ring[STAGES];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int phases = (M.cols + BK - 1) / BK;

  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < phases) fill(ring[s], M, N, row0, col0, s * BK);
    __pipeline_commit();
  }

  float4 sum[4] = {};
  int now = 0, next = STAGES - 1;
  for (int ph = 0; ph < phases; ++ph) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    const int ahead = ph + STAGES - 1;
    if (ahead < phases) fill(ring[next], M, N, row0, col0, ahead * BK);
    __pipeline_commit();

    const Stage& st = ring[now];
    for (int i = 0; i < BK; i += 4) {
      float4 a[4];
      for (int r = 0; r < 4; ++r) a[r] = *(const float4*)&st.m[ty + r * 16][i];
      for (int s = 0; s < 4; ++s) {
        const float4 b = *(const float4*)&st.n[i + s][tx * 4];
        for (int r = 0; r < 4; ++r) {
          const float f = s == 0 ? a[r].x : s == 1 ? a[r].y : s == 2 ? a[r].z : a[r].w;
          sum[r].x += f * b.x;
          sum[r].y += f * b.y;
          sum[r].z += f * b.z;
          sum[r].w += f * b.w;
        }
      }
    }
    now = now + 1 == STAGES ? 0 : now + 1;
    next = next + 1 == STAGES ? 0 : next + 1;
  }

  const int l = N.cols, col = col0 + tx * 4;
  for (int r = 0; r < 4; ++r) {
    const int row = row0 + ty + r * 16;
    if (row >= M.rows) return;
    float* to = P + size_t(row) * l + col;
    if (l % 4 == 0) {
      if (col < l) *(float4*)to = sum[r];
    } else {
      const float v[4] = {sum[r].x, sum[r].y, sum[r].z, sum[r].w};
      for (int c = 0; c < 4 && col + c < l; ++c) to[c] = v[c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Source m{M, j, k}, n{N, k, l};
  dim3 grid((l + BN - 1) / BN, (j + BM - 1) / BM);
  ring_kernel<<<grid, THREADS>>>(m, n, P);
  CHECK(cudaGetLastError());
}
