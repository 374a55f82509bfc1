/* Lab 06, padded rows of 66 words; pointers advance from tile to tile. */
#include "check.h"

#define HOEHE 64
#define BREITE 64
#define TIEFE 16
#define ZEILE (HOEHE + 2) /* words from one row of the turned tile to the next */
#define GRUPPE 256

__global__ void mal(const float *M, const float *N, float *P, int j, int k, int l)
{
  __shared__ float links[TIEFE * ZEILE];
  __shared__ float rechts[TIEFE * BREITE];

  const int t = threadIdx.x;
  const int oben = blockIdx.y * HOEHE;
  const int seite = blockIdx.x * BREITE;

  /* what I bring: column mi of M, rows mr, mr+16, ...; column nc of N, rows nr, nr+4, ... */
  const int mi = t % TIEFE, mr = t / TIEFE;
  const int nc = t % BREITE, nr = t / BREITE;
  const float *pm = M + (size_t)(oben + mr) * k + mi;
  const float *pn = N + (size_t)nr * l + seite + nc;

  /* what I compute: rows 4*ry .., columns rx, rx+16, ... */
  const int rx = t & 15, ry = t >> 4;
  float s[4][4] = {};

  for (int rest = k; rest > 0; rest -= TIEFE) {
    for (int q = 0; q < 4; q++) {
      int da = oben + mr + 16 * q < j && mi < rest;
      links[mi * ZEILE + mr + 16 * q] = da ? pm[(size_t)16 * q * k] : 0.0f;
    }
    for (int q = 0; q < 4; q++) {
      int da = nr + 4 * q < rest && seite + nc < l;
      rechts[(nr + 4 * q) * BREITE + nc] = da ? pn[(size_t)4 * q * l] : 0.0f;
    }
    __syncthreads();

    const float *pl = links + 4 * ry;
    const float *pr = rechts + rx;
    for (int i = 0; i < TIEFE; i++, pl += ZEILE, pr += BREITE) {
      float a[4], b[4];
      for (int q = 0; q < 4; q++) {
        a[q] = pl[q];
        b[q] = pr[16 * q];
      }
      for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) s[y][x] += a[y] * b[x];
    }
    __syncthreads();

    pm += TIEFE;
    pn += (size_t)TIEFE * l;
  }

  for (int y = 0; y < 4; y++)
    for (int x = 0; x < 4; x++) {
      int r = oben + 4 * ry + y, c = seite + rx + 16 * x;
      if (r < j && c < l) P[(size_t)r * l + c] = s[y][x];
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
  unsigned nx = (unsigned)(l + BREITE - 1) / BREITE;
  unsigned ny = (unsigned)(j + HOEHE - 1) / HOEHE;
  dim3 gitter(nx, ny);
  mal<<<gitter, GRUPPE>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
