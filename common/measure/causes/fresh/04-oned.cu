#include "check.h"
#include <algorithm>

// Number of blocks is one-dimensional; a block finds its tile by division.
typedef long long i64;

#define W 16
#define CEIL(a, b) (((a) + (b) - 1) / (b))

struct Args {
  const float *M, *N;
  float *P;
  int j, k, l;
  int tilesAcross;
};

__global__ void rechteck(Args q) {
  __shared__ float tm[W * W], tn[W * W];
  int t = threadIdx.x;
  int zeile = t / W, spalte = t % W;
  i64 gz = i64(blockIdx.x / q.tilesAcross) * W + zeile;
  i64 gs = i64(blockIdx.x % q.tilesAcross) * W + spalte;

  bool zeileOk = gz < q.j;
  bool spalteOk = gs < q.l;
  const float *pm = q.M + gz * q.k + spalte;
  const float *pn = q.N + i64(zeile) * q.l + gs;
  float summe = 0.0f;
  int rest = q.k;
  do {
    tm[t] = zeileOk && spalte < rest ? *pm : 0.0f;
    tn[t] = spalteOk && zeile < rest ? *pn : 0.0f;
    __syncthreads();
    for (int i = W; i--;) summe += tm[zeile * W + i] * tn[i * W + spalte];
    __syncthreads();
    pm += W;
    pn += i64(W) * q.l;
    rest -= W;
  } while (rest > 0);

  if (zeileOk && spalteOk) q.P[gz * q.l + gs] = summe;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  Args q = {M, N, P, j, k, l, CEIL(l, W)};
  int anzahl = q.tilesAcross * CEIL(j, W);
  rechteck<<<anzahl, W * W>>>(q);
  CHECK(cudaGetLastError());
}
