/* flat shared arrays with a pitch, all index arithmetic by hand */
#include "check.h"

#define BS 64
#define KS 16
#define PITCH_A 70
#define PITCH_B 64
#define IDX(row, col, pitch) ((row) * (pitch) + (col))

struct Args {
  const float *a, *b;
  float* c;
  int rows, inner, cols;
};

__global__ void sgemm_padded(Args g) {
  __shared__ float sa[KS * PITCH_A];
  __shared__ float sb[KS * PITCH_B];
  int tid = threadIdx.y * blockDim.x + threadIdx.x;
  int baseRow = blockIdx.y * BS;
  int baseCol = blockIdx.x * BS;
  float acc[4][4] = {{0.f}};

  for (int kk = 0; kk < g.inner; kk += KS) {
    for (int e = tid; e < BS * KS; e += 256) {
      int r = e >> 4;
      int q = e & 15;
      float v = 0.f;
      if (baseRow + r < g.rows && kk + q < g.inner)
        v = g.a[IDX((size_t)(baseRow + r), kk + q, g.inner)];
      sa[IDX(q, r, PITCH_A)] = v;
    }
    for (int e = tid; e < KS * BS; e += 256) {
      int q = e >> 6;
      int s = e & 63;
      float v = 0.f;
      if (kk + q < g.inner && baseCol + s < g.cols)
        v = g.b[IDX((size_t)(kk + q), baseCol + s, g.cols)];
      sb[IDX(q, s, PITCH_B)] = v;
    }
    __syncthreads();
    const float* pa = sa + threadIdx.y * 4;
    const float* pb = sb + threadIdx.x;
    for (int q = 0; q < KS; ++q) {
      float ra[4] = {pa[0], pa[1], pa[2], pa[3]};
      float rb[4] = {pb[0], pb[16], pb[32], pb[48]};
      for (int u = 0; u < 4; ++u)
        for (int v = 0; v < 4; ++v) acc[u][v] += ra[u] * rb[v];
      pa += PITCH_A;
      pb += PITCH_B;
    }
    __syncthreads();
  }

  for (int u = 0; u < 4; ++u) {
    int r = baseRow + threadIdx.y * 4 + u;
    for (int v = 0; v < 4; ++v) {
      int s = baseCol + threadIdx.x + 16 * v;
      if (r < g.rows && s < g.cols) g.c[IDX((size_t)r, s, g.cols)] = acc[u][v];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Args g = {M, N, P, j, k, l};
  dim3 block(16, 16);
  dim3 grid((g.cols + BS - 1) / BS, (g.rows + BS - 1) / BS);
  sgemm_padded<<<grid, block>>>(g);
  CHECK(cudaPeekAtLastError());
}
