/* Lab 01, one long vector of results, as in R: element number g belongs to thread g. */
#include <cuda_runtime.h>
#include <stdio.h>

#define NTHR 256

/* prediction = design %*% beta */
__global__ void matprod(const float *x, const float *b, float *yhat, int p)
{
    int g = blockIdx.x * NTHR + threadIdx.x;
    int obs, var, i;
    const float *xi, *bi;
    float acc = 0.f;

    if (g >= p * p)
        return;
    obs = g / p;
    var = g % p;
    xi = x + obs * p;
    bi = b + var;
    for (i = p; i > 0; i--) {
        acc += *xi * *bi;
        xi++;
        bi += p;
    }
    yhat[g] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *dx = NULL, *db = NULL, *dy = NULL;
    cudaError_t rc;
    size_t n = (size_t)width * width;
    size_t sz = n * sizeof *dx;
    int nblk = (int)((n + NTHR - 1) / NTHR);

    if ((rc = cudaMalloc((void **)&dx, sz)) != cudaSuccess) goto done;
    if ((rc = cudaMalloc((void **)&db, sz)) != cudaSuccess) goto done;
    if ((rc = cudaMalloc((void **)&dy, sz)) != cudaSuccess) goto done;

    if ((rc = cudaMemcpy(dx, M, sz, cudaMemcpyHostToDevice)) != cudaSuccess) goto done;
    if ((rc = cudaMemcpy(db, N, sz, cudaMemcpyHostToDevice)) != cudaSuccess) goto done;

    matprod<<<nblk, NTHR>>>(dx, db, dy, width);
    if ((rc = cudaGetLastError()) != cudaSuccess) goto done;

    rc = cudaMemcpy(P, dy, sz, cudaMemcpyDeviceToHost);

done:
    if (rc != cudaSuccess)
        fprintf(stderr, "matprod: %s\n", cudaGetErrorString(rc));
    cudaFree(dy);
    cudaFree(db);
    cudaFree(dx);
}
