// 2. labor: csempés szorzás (sor = row, oszlop = column, lepes = step)
#include "check.h"

template <int S>
struct Csempe {
  float adat[S][S];

  // copies the tile whose upper left corner is `sarok`
  __device__ void betolt(const float* sarok, int szelesseg, int szal) {
    int sor = szal / S, oszlop = szal % S;
    adat[sor][oszlop] = sarok[sor * szelesseg + oszlop];
  }
};

template <int S>
__global__ void szorzas(const float* __restrict__ A, const float* __restrict__ B, float* C, int n) {
  __shared__ Csempe<S> a, b;

  int szal = threadIdx.x;  // 0 .. S*S-1
  int sor = szal / S;
  int oszlop = szal % S;

  const float* a_sarok = A + blockIdx.y * S * n;
  const float* b_sarok = B + blockIdx.x * S;
  const float* a_vege = a_sarok + n;

  float osszeg = 0.0f;
  for (; a_sarok < a_vege; a_sarok += S, b_sarok += S * n) {
    a.betolt(a_sarok, n, szal);
    b.betolt(b_sarok, n, szal);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < S; i++) osszeg = fmaf(a.adat[sor][i], b.adat[i][oszlop], osszeg);
    __syncthreads();
  }

  float* cel = C + blockIdx.y * S * n + blockIdx.x * S;
  cel[sor * n + oszlop] = osszeg;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int S = 16;
  int db = width / S;
  auto kernel = szorzas<S>;
  kernel<<<dim3(db, db, 1), S * S>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
