// Blatt 4, Matrikel 2291: rechteckige Matrizen. Zeilen = rows, Spalten = columns.
#include "check.h"

typedef long long idx;

enum { K = 16, FADEN = K * K };  // Kachel, Faeden pro Block

static int aufgerundet(int ganz, int teil) { return ganz / teil + (ganz % teil > 0 ? 1 : 0); }

__global__ void malnehmen(const float* A, const float* B, float* C, int zeilen, int mitte,
                          int spalten) {
  __shared__ float ka[K][K];
  __shared__ float kb[K][K];
  int f = threadIdx.x;
  int fz = f / K;        // Zeile in der Kachel
  int fs = f - fz * K;   // Spalte in der Kachel
  int z = blockIdx.y * K + fz;
  int s = blockIdx.x * K + fs;

  const float* zeigerA = A + (idx)z * mitte + fs;
  const float* zeigerB = B + (idx)fz * spalten + s;
  bool zeile_da = z < zeilen;
  bool spalte_da = s < spalten;

  float summe = 0;
  for (int rest = mitte; rest > 0; rest -= K) {
    float wa = 0, wb = 0;
    if (zeile_da && fs < rest) wa = *zeigerA;
    if (spalte_da && fz < rest) wb = *zeigerB;
    ka[fz][fs] = wa;
    kb[fz][fs] = wb;
    __syncthreads();

    for (int i = K - 1; i >= 0; i--)
      summe += ka[fz][i] * kb[i][fs];
    __syncthreads();

    zeigerA += K;
    zeigerB += (idx)K * spalten;
  }

  if (zeile_da && spalte_da)
    C[(idx)z * spalten + s] = summe;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 gitter;
  gitter.x = aufgerundet(l, K);
  gitter.y = aufgerundet(j, K);
  malnehmen<<<gitter, FADEN>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
