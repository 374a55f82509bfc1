#include "check.h"

#define T 8
#define CEIL(a, b) (((a) + (b)-1) / (b))
#define GET(mat, r, c) (((r) < n && (c) < n) ? (mat)[(long long)(r)*n + (c)] : 0.0f)

__global__ void tiles(const float* a, const float* b, float* c, int n) {
  extern __shared__ float sm[];
  float* sa = sm;
  float* sb = sm + T * T;
  const int tid = threadIdx.x, ry = tid / T, rx = tid % T;
  const int bc = blockIdx.x % CEIL(n, T), br = blockIdx.x / CEIL(n, T);
  float total = 0.0f;
  for (int k = 0; k < CEIL(n, T) * T; k += T) {
    sa[tid] = GET(a, br * T + ry, k + rx);
    sb[tid] = GET(b, k + ry, bc * T + rx);
    __syncthreads();
    float part = 0.0f;
    for (int q = 0; q < T; q++) part += sa[ry * T + q] * sb[q * T + rx];
    total += part;
    __syncthreads();
  }
  if (br * T + ry < n && bc * T + rx < n) c[(long long)(br * T + ry) * n + bc * T + rx] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  int side = CEIL(width, T);
  tiles<<<side * side, T * T, 2 * T * T * sizeof(float)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
