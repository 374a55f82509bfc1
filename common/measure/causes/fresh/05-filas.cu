// Laboratorio 05: cada hilo calcula 8 filas por 4 columnas; el bloque tiene 16 x 8 hilos.
#include "check.h"

#define ALTO 64   // filas de P por bloque
#define ANCHO 64  // columnas de P por bloque
#define FONDO 16  // pasos por fase
#define NF 8      // filas por hilo
#define NC 4      // columnas por hilo
#define HX (ANCHO / NC)
#define HY (ALTO / NF)

#define PARA(i, n) for (int i = 0; i < (n); ++i)

__global__ void __launch_bounds__(HX* HY)
    registros(const float* __restrict__ m, const float* __restrict__ n, float* __restrict__ p,
              int j, int k, int l) {
  __shared__ float A[FONDO][ALTO];  // traspuesta
  __shared__ float B[FONDO][ANCHO];

  int hx = threadIdx.x, hy = threadIdx.y;
  int hilo = hx + hy * HX;
  int f0 = blockIdx.y * ALTO, c0 = blockIdx.x * ANCHO;

  // para M: 16 hilos leen una fila; para N: 64 hilos leen una fila
  int mi = hilo % FONDO, mr = hilo / FONDO;
  int nc = hilo % ANCHO, ni = hilo / ANCHO;

  float s[NF][NC];
  PARA(f, NF) PARA(c, NC) s[f][c] = 0.0f;

  int fases = (k + FONDO - 1) / FONDO;
  PARA(fase, fases) {
    int base = fase * FONDO;
    for (int r = mr; r < ALTO; r += HX * HY / FONDO) {
      bool dentro = f0 + r < j && base + mi < k;
      A[mi][r] = dentro ? m[(size_t)(f0 + r) * k + base + mi] : 0.0f;
    }
    for (int i = ni; i < FONDO; i += HX * HY / ANCHO) {
      bool dentro = base + i < k && c0 + nc < l;
      B[i][nc] = dentro ? n[(size_t)(base + i) * l + c0 + nc] : 0.0f;
    }
    __syncthreads();

    PARA(i, FONDO) {
      float a[NF];
      PARA(f, NF) a[f] = A[i][hy * NF + f];
      PARA(c, NC) {
        float b = B[i][hx + c * HX];
        PARA(f, NF) s[f][c] += a[f] * b;
      }
    }
    __syncthreads();
  }

  PARA(f, NF) PARA(c, NC) {
    int fila = f0 + hy * NF + f;
    int columna = c0 + hx + c * HX;
    if (fila < j && columna < l) p[(size_t)fila * l + columna] = s[f][c];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 hilos(HX, HY);
  dim3 bloques((l + ANCHO - 1) / ANCHO, (j + ALTO - 1) / ALTO);
  registros<<<bloques, hilos>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
