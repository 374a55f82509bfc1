/* Lab 02. Zeiger statt Indizes: pm wandert nach rechts, pn nach unten. */
#include "check.h"

enum { KACHEL = 16, FLAECHE = KACHEL * KACHEL };

#define ZEILE(t) ((t) / KACHEL)
#define SPALTE(t) ((t) % KACHEL)

static __device__ float skalar(const float *zeile, const float *spalte)
{
    float s = 0.f;
    const float *ende = zeile + KACHEL;
    do {
        s += *zeile++ * *spalte;
        spalte += KACHEL;
    } while (zeile != ende);
    return s;
}

__global__ void kachel_kern(const float *M, const float *N, float *P, int breite)
{
    __shared__ float speicher[2 * FLAECHE];
    float *km = speicher;
    float *kn = speicher + FLAECHE;

    const int t = threadIdx.x;
    const int z = ZEILE(t), s = SPALTE(t);
    const int oben = blockIdx.y * KACHEL, links = blockIdx.x * KACHEL;

    const float *pm = M + (oben + z) * breite + s;
    const float *pn = N + z * breite + links + s;

    float summe = 0.f;
    int rest = breite / KACHEL;
    while (rest--) {
        km[t] = *pm;
        kn[t] = *pn;
        pm += KACHEL;
        pn += KACHEL * breite;
        __syncthreads();
        summe += skalar(km + z * KACHEL, kn + s);
        __syncthreads();
    }
    P[(oben + z) * breite + links + s] = summe;
}

void solve(const float *M, const float *N, float *P, int width)
{
    int n = width / KACHEL;
    dim3 gitter(n, n, 1);
    kachel_kern<<<gitter, FLAECHE>>>(M, N, P, width);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
