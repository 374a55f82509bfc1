// Spanish names; acceso con una clase que guarda el relleno
#include "check.h"

namespace cfg {
constexpr int filas = 64, columnas = 64, fondo = 16;
constexpr int porHilo = 4;
constexpr int ancho = columnas / porHilo;  // hilos en x
constexpr int alto = filas / porHilo;      // hilos en y
constexpr int hilos = ancho * alto;
constexpr int relleno = 2;
}  // namespace cfg

template <int F, int C, int EXTRA>
class Losa {
  float datos[F * (C + EXTRA)];

 public:
  __device__ float& operator()(int f, int c) { return datos[f * (C + EXTRA) + c]; }
};

__device__ float leer(const float* g, int f, int c, int nf, int nc) {
  if (f >= nf) return 0.0f;
  if (c >= nc) return 0.0f;
  return g[size_t(f) * nc + c];
}

__global__ void producto(const float* A, const float* B, float* C, int nf, int nk, int nc) {
  using namespace cfg;
  __shared__ Losa<fondo, filas, relleno> la;  // transpuesta
  __shared__ Losa<fondo, columnas, 0> lb;

  const int hx = threadIdx.x, hy = threadIdx.y;
  const int hilo = hx + hy * ancho;
  const int f0 = blockIdx.y * filas, c0 = blockIdx.x * columnas;

  float suma[porHilo][porHilo] = {};
  const int vueltas = (nk + fondo - 1) / fondo;
  for (int v = 0; v != vueltas; ++v) {
    const int k0 = v * fondo;
    for (int e = hilo; e < filas * fondo; e += hilos)
      la(e % fondo, e / fondo) = leer(A, f0 + e / fondo, k0 + e % fondo, nf, nk);
    for (int e = hilo; e < fondo * columnas; e += hilos)
      lb(e / columnas, e % columnas) = leer(B, k0 + e / columnas, c0 + e % columnas, nk, nc);
    __syncthreads();

    for (int t = 0; t < fondo; ++t) {
      float a[porHilo], b[porHilo];
      for (int u = 0; u < porHilo; ++u) {
        a[u] = la(t, hy * porHilo + u);
        b[u] = lb(t, hx + u * ancho);
      }
      for (int u = 0; u < porHilo; ++u)
        for (int w = 0; w < porHilo; ++w) suma[u][w] += a[u] * b[w];
    }
    __syncthreads();
  }

  for (int u = 0; u < porHilo; ++u) {
    const int f = f0 + hy * porHilo + u;
    for (int w = 0; w < porHilo; ++w) {
      const int c = c0 + hx + w * ancho;
      if (f < nf && c < nc) C[size_t(f) * nc + c] = suma[u][w];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 bloque(cfg::ancho, cfg::alto);
  const dim3 malla((l + cfg::columnas - 1) / cfg::columnas, (j + cfg::filas - 1) / cfg::filas);
  producto<<<malla, bloque>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
