#include "check.h"
#include "copy_async.h"

#define W 16
#define STAGES 2

__device__ void fetch(float (*ma)[W], float (*nb)[W], const float* A, const float* B, int step,
                      int ra, int cb, int nr, int nk, int nc) {
  int ca = step * W + threadIdx.x;
  int rb = step * W + threadIdx.y;
  bool okA = ra < nr && ca < nk;
  bool okB = rb < nk && cb < nc;
  copy_async<4>(&ma[threadIdx.y][threadIdx.x], okA ? A + ra * nk + ca : A, okA);
  copy_async<4>(&nb[threadIdx.y][threadIdx.x], okB ? B + rb * nc + cb : B, okB);
}

__global__ void ahead(const float* A, const float* B, float* C, int nr, int nk, int nc) {
  __shared__ float ma[STAGES][W][W];
  __shared__ float nb[STAGES][W][W];
  int row = blockIdx.y * W + threadIdx.y;
  int col = blockIdx.x * W + threadIdx.x;
  int steps = (nk + W - 1) / W;
  float sum = 0.f;
  fetch(ma[0], nb[0], A, B, 0, row, col, nr, nk, nc);
  __pipeline_commit();
  for (int s = 0; s < steps; s++) {
    int now = s % STAGES;
    int later = (s + 1) % STAGES;
    if (s + 1 < steps) fetch(ma[later], nb[later], A, B, s + 1, row, col, nr, nk, nc);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = 0; i < W; i++) sum += ma[now][threadIdx.y][i] * nb[now][i][threadIdx.x];
    __syncthreads();
  }
  if (row < nr && col < nc) C[row * nc + col] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + W - 1) / W, (j + W - 1) / W), block(W, W);
  ahead<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
