#include "check.h"

enum { TS = 32 };

__global__ void rect(float* C, const float* A, const float* B, int Arows, int Acols, int Bcols) {
  __shared__ float As[TS][TS];
  __shared__ float Bs[TS][TS + 1];
  int t = threadIdx.x;
  int tr = t / TS, tc = t % TS;
  int r = blockIdx.x / ((Bcols + TS - 1) / TS) * TS + tr;
  int c = blockIdx.x % ((Bcols + TS - 1) / TS) * TS + tc;
  double acc = 0;
  for (int p = 0; p < Acols; p += TS) {
    As[tr][tc] = 0;
    Bs[tr][tc] = 0;
    if (r < Arows && p + tc < Acols) As[tr][tc] = A[(size_t)r * Acols + p + tc];
    if (p + tr < Acols && c < Bcols) Bs[tr][tc] = B[(size_t)(p + tr) * Bcols + c];
    __syncthreads();
    for (int q = 0; q < TS; q++) acc += As[tr][q] * Bs[q][tc];
    __syncthreads();
  }
  if (r >= Arows || c >= Bcols) return;
  C[(size_t)r * Bcols + c] = acc;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int across = (l + TS - 1) / TS;
  int down = (j + TS - 1) / TS;
  rect<<<across * down, TS * TS>>>(P, M, N, j, k, l);
  CHECK(cudaGetLastError());
}
