// Laboratoire 02. Je viens de Fortran : i = ligne, j = colonne, l = indice de somme.
#include "check.h"

#define NB 16

__global__ void dgemm_tuile(const float* A, const float* B, float* C, int n) {
  __shared__ float As[NB * NB];
  __shared__ float Bs[NB * NB];

  const int jloc = threadIdx.x;
  const int iloc = threadIdx.y;
  const int ici = iloc * NB + jloc;  // ma place dans une tuile

  // pa et pb avancent d'une tuile a chaque tour
  const float* pa = A + (blockIdx.y * NB + iloc) * n + jloc;
  const float* pb = B + iloc * n + blockIdx.x * NB + jloc;
  const float* fin = pa + n;

  float s = 0.0f;
  while (pa < fin) {
    As[ici] = *pa;
    Bs[ici] = *pb;
    __syncthreads();

    const float* ligne = As + iloc * NB;
    const float* colonne = Bs + jloc;
    for (int l = 1; l <= NB; l++) {
      s = s + (*ligne) * (*colonne);
      ligne++;
      colonne += NB;
    }
    __syncthreads();

    pa += NB;
    pb += NB * n;
  }

  const int i = blockIdx.y * NB + iloc;
  const int j = blockIdx.x * NB + jloc;
  C[i * n + j] = s;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int nblocs = width / NB;
  cudaStream_t flux;
  CHECK(cudaStreamCreate(&flux));
  dgemm_tuile<<<dim3(nblocs, nblocs, 1), dim3(NB, NB, 1), 0, flux>>>(M, N, P, width);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(flux));
  CHECK(cudaStreamDestroy(flux));
}
