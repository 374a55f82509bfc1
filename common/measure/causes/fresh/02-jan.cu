// Jan Kowalczyk, lab 02. Zawsze kafelki 16 x 16.
// Dynamic shared memory, and the tile side as a template parameter.
#include "check.h"

template <int BOK>
struct Kafelek {
  float *dane;
  __device__ float &pole(int wiersz, int kolumna) { return dane[wiersz * BOK + kolumna]; }
};

template <int BOK>
__device__ float iloczyn(Kafelek<BOK> a, Kafelek<BOK> b, int wiersz, int kolumna) {
  float wynik = 0.0f;
  for (int q = 0; q < BOK; q++) {
    wynik = fmaf(a.pole(wiersz, q), b.pole(q, kolumna), wynik);
  }
  return wynik;
}

template <int BOK>
__global__ void mnozenie(const float *__restrict__ A, const float *__restrict__ B,
                         float *__restrict__ C, int n) {
  extern __shared__ float pamiec[];
  Kafelek<BOK> a{pamiec};
  Kafelek<BOK> b{pamiec + BOK * BOK};

  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int gx = blockIdx.x * BOK + x;
  const int gy = blockIdx.y * BOK + y;

  float suma = 0.0f;
  for (int start = 0; start < n; start += BOK) {
    a.pole(y, x) = A[gy * n + (start + x)];
    b.pole(y, x) = B[(start + y) * n + gx];
    __syncthreads();
    suma += iloczyn<BOK>(a, b, y, x);
    __syncthreads();
  }
  C[gy * n + gx] = suma;
}

void solve(const float *M, const float *N, float *P, int width) {
  constexpr int BOK = 16;
  const int ile = width / BOK;
  const size_t bajty = 2 * BOK * BOK * sizeof(float);
  mnozenie<BOK><<<dim3(ile, ile), dim3(BOK, BOK), bajty>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
