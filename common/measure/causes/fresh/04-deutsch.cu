// Aufgabe 04, rechteckige Matrizen. Ein Block ist eine Zeile von 256 Faeden.
#include "check.h"

const int K = 16;  // Kantenlaenge einer Kachel

typedef long long ganz;

__global__ void produkt(const float* links, const float* rechts, float* ergebnis,
                        int zeilen, int mitte, int spalten) {
  __shared__ float kachelL[K][K];
  __shared__ float kachelR[K][K];

  int s = threadIdx.x % K;
  int z = threadIdx.x / K;
  ganz zeile = (ganz)blockIdx.y * K + z;
  ganz spalte = (ganz)blockIdx.x * K + s;

  float summe = 0.0f;
  int rest = mitte;  // so viele Glieder der Summe fehlen noch
  for (ganz anfang = 0; rest > 0; anfang += K, rest -= K) {
    kachelL[z][s] = 0.0f;
    kachelR[z][s] = 0.0f;
    if (zeile < zeilen && s < rest) kachelL[z][s] = links[zeile * mitte + anfang + s];
    if (z < rest && spalte < spalten) kachelR[z][s] = rechts[(anfang + z) * spalten + spalte];
    __syncthreads();

    int anzahl = rest < K ? rest : K;
    for (int i = 0; i < anzahl; i++) summe += kachelL[z][i] * kachelR[i][s];
    __syncthreads();
  }

  if (zeile >= zeilen) return;
  if (spalte >= spalten) return;
  ergebnis[zeile * spalten + spalte] = summe;
}

static int aufrunden(int zahl) {
  int kacheln = zahl / K;
  return zahl % K == 0 ? kacheln : kacheln + 1;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 gitter;
  gitter.x = aufrunden(l);
  gitter.y = aufrunden(j);
  gitter.z = 1;
  produkt<<<gitter, K * K>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
