// count down what remains of k; the pointers advance with it
#include "check.h"

const int W = 16;

typedef struct {
  int j, k, l;
} Shape;

__global__ void rectmul(const float* M, const float* N, float* P, Shape sh) {
  __shared__ float mt[W][W];
  __shared__ float nt[W][W];
  int lig = threadIdx.x / W;   // ligne
  int col = threadIdx.x % W;   // colonne
  long long row = (long long)blockIdx.y * W + lig;
  long long kol = (long long)blockIdx.x * W + col;
  bool row_ok = row < sh.j;
  bool kol_ok = kol < sh.l;

  const float* src_m = M + row * sh.k + col;
  const float* src_n = N + (long long)lig * sh.l + kol;
  int remain = sh.k;
  float cumul = 0;
  while (remain > 0) {
    mt[lig][col] = 0;
    if (row_ok && col < remain) mt[lig][col] = *src_m;
    nt[lig][col] = 0;
    if (kol_ok && lig < remain) nt[lig][col] = *src_n;
    __syncthreads();
    int steps = remain < W ? remain : W;
    for (int h = 0; h < steps; h++) {
      cumul += mt[lig][h] * nt[h][col];
    }
    __syncthreads();
    src_m += W;
    src_n += (long long)W * sh.l;
    remain -= W;
  }
  if (row_ok && kol_ok) {
    P[row * sh.l + kol] = cumul;
  }
}

int how_many(int n) {
  return (n - 1) / W + 1;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Shape sh;
  sh.j = j;
  sh.k = k;
  sh.l = l;
  dim3 grid(how_many(l), how_many(j));
  dim3 block(W * W);
  rectmul<<<grid, block>>>(M, N, P, sh);
  CHECK(cudaGetLastError());
}
