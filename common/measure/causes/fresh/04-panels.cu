// panels of k: P is set to 0, and each launch adds its panel
#include "check.h"

#define PANEL 32
#define SIDE 16

struct Args {
  const float *m, *n;
  float* p;
  int j, k, l;
};

__global__ void addPanel(Args args, int from, int depth) {
  __shared__ float a[SIDE][PANEL], b[PANEL][SIDE];
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  for (int i = threadIdx.x; i < PANEL; i += SIDE)
    a[threadIdx.y][i] = y < args.j && i < depth ? args.m[(size_t)y * args.k + from + i] : 0.0f;
  for (int i = threadIdx.y; i < PANEL; i += SIDE)
    b[i][threadIdx.x] = x < args.l && i < depth ? args.n[(size_t)(from + i) * args.l + x] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < PANEL; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
  if (y < args.j && x < args.l) args.p[(size_t)y * args.l + x] += sum;
}

static dim3 gridOf(int columns, int rows) {
  dim3 made;
  made.x = (columns + SIDE - 1) / SIDE;
  made.y = (rows + SIDE - 1) / SIDE;
  return made;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  CHECK(cudaMemset(P, 0, sizeof(float) * j * l));
  const Args args = {M, N, P, j, k, l};
  int panels = (k + PANEL - 1) / PANEL;
  for (int i = 0; i < panels; i++) {
    const int from = i * PANEL;
    const int depth = k - from < PANEL ? k - from : PANEL;
    addPanel<<<gridOf(l, j), dim3(SIDE, SIDE)>>>(args, from, depth);
  }
  CHECK(cudaGetLastError());
}
