// Lab 01, by someone who has written C for twenty years.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHR 256
#define BW 32              /* columns per block */
#define BH (NTHR / BW)     /* rows per block */
#define TRY(x)                    \
  do {                            \
    err = (x);                    \
    if (err != cudaSuccess) {     \
      where = #x;                 \
      goto out;                   \
    }                             \
  } while (0)

__global__ void mm(const float *a, const float *b, float *c, int n)
{
    int t = threadIdx.x;
    int r = blockIdx.y * BH + t / BW;
    int q = blockIdx.x * BW + t % BW;
    const float *pa, *pb, *end;
    float acc = 0.f;

    if (r < n && q < n) {
        pa = a + r * n;
        end = pa + n;
        pb = b + q;
        while (pa != end) {
            acc += *pa++ * *pb;
            pb += n;
        }
        c[r * n + q] = acc;
    }
}

void solve(const float *M, const float *N, float *P, int width)
{
    cudaError_t err;
    const char *where = "";
    float *dm = NULL, *dn = NULL, *dp = NULL;
    size_t count = (size_t)width * width;
    size_t sz = count * sizeof *dm;
    dim3 g;

    TRY(cudaMalloc((void **)&dm, sz));
    TRY(cudaMalloc((void **)&dn, sz));
    TRY(cudaMalloc((void **)&dp, sz));

    TRY(cudaMemcpy(dm, M, sz, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(dn, N, sz, cudaMemcpyHostToDevice));

    g.x = (width + BW - 1) / BW;
    g.y = (width + BH - 1) / BH;
    mm<<<g, NTHR>>>(dm, dn, dp, width);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());

    TRY(cudaMemcpy(P, dp, sz, cudaMemcpyDeviceToHost));

out:
    if (dm) cudaFree(dm);
    if (dn) cudaFree(dn);
    if (dp) cudaFree(dp);
    if (err != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(err));
        exit(EXIT_FAILURE);
    }
}
