// Uebung 2: Matrixprodukt mit Kacheln. Zeiger laufen von Kachel zu Kachel.
#include "check.h"

template <int K>
__global__ void kachelProdukt(const float *links, const float *rechts, float *ziel, int n) {
  __shared__ float kl[K][K];
  __shared__ float kr[K][K];

  const int s = threadIdx.x;  // Spalte in der Kachel
  const int z = threadIdx.y;  // Zeile in der Kachel

  // Anfang der Zeile der Kacheln bzw. der Spalte der Kacheln
  const float *pl = links + blockIdx.y * K * n + z * n + s;
  const float *pr = rechts + blockIdx.x * K + z * n + s;
  float *pz = ziel + blockIdx.y * K * n + blockIdx.x * K + z * n + s;

  float summe = 0.f;
  for (int rest = n; rest > 0; rest -= K) {
    kl[z][s] = *pl;
    kr[z][s] = *pr;
    pl += K;
    pr += K * n;
    __syncthreads();

#pragma unroll
    for (int i = 0; i < K; i++) summe = fmaf(kl[z][i], kr[i][s], summe);
    __syncthreads();
  }
  *pz = summe;
}

void solve(const float *M, const float *N, float *P, int width) {
  constexpr int K = 32;
  const int kacheln = width / K;
  kachelProdukt<K><<<dim3(kacheln, kacheln), dim3(K, K)>>>(M, N, P, width);
  const cudaError_t fehler = cudaPeekAtLastError();
  CHECK(fehler);
}
