// TP 5. Chaque thread calcule 4 x 4 elements, espaces de 16 dans les deux directions.
#include "check.h"

#define COTE 64
#define PROF 16
#define PAS 16
#define NB (COTE / PAS)

struct Vue {
  const float* base;
  int haut, large;
  __device__ Vue decale(int lig, int col) const {
    return Vue{base + (size_t)lig * large + col, haut - lig, large - col};
  }
};

// Un element d'une vue; pas = longueur d'une ligne en memoire.
__device__ float lire(const Vue& v, int lig, int col, int pas) {
  if (lig < v.haut && col < v.large) return v.base[(size_t)lig * pas + col];
  return 0.f;
}

__global__ void produit(Vue m, Vue n, float* p) {
  __shared__ float tm[COTE][PROF + 1];
  __shared__ float tn[PROF][COTE];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int lig0 = blockIdx.y * COTE, col0 = blockIdx.x * COTE;
  const int nbPhases = (m.large + PROF - 1) / PROF;

  float s[NB][NB];
  for (int a = 0; a < NB; a++) {
    for (int b = 0; b < NB; b++) s[a][b] = 0.f;
  }

  int phase = 0;
  while (phase < nbPhases) {
    Vue vm = m.decale(lig0, phase * PROF);
    Vue vn = n.decale(phase * PROF, col0);
    for (int a = 0; a < NB; a++) {
      tm[ty + a * PAS][tx] = lire(vm, ty + a * PAS, tx, m.large);
      tn[ty][tx + a * PAS] = lire(vn, ty, tx + a * PAS, n.large);
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < PROF; i++) {
      float x[NB], y[NB];
      for (int a = 0; a < NB; a++) {
        x[a] = tm[ty + a * PAS][i];
        y[a] = tn[i][tx + a * PAS];
      }
      for (int a = 0; a < NB; a++) {
        for (int b = 0; b < NB; b++) s[a][b] += x[a] * y[b];
      }
    }
    __syncthreads();
    phase++;
  }

  for (int a = 0; a < NB; a++) {
    for (int b = 0; b < NB; b++) {
      int lig = lig0 + ty + a * PAS;
      int col = col0 + tx + b * PAS;
      if (lig < m.haut && col < n.large) p[(size_t)lig * n.large + col] = s[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Vue m = {M, j, k};
  Vue n = {N, k, l};
  dim3 bloc(PAS, PAS);
  dim3 grille((l + COTE - 1) / COTE, (j + COTE - 1) / COTE);
  produit<<<grille, bloc>>>(m, n, P);
  cudaError_t err = cudaGetLastError();
  CHECK(err);
}
