// naive matmul, plain C style. flat index, cleanup by goto
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define NTHREADS 128

/* one thread -> one element of p, threads are numbered in one long row */
__global__ void mm(const float *m, const float *n, float *p, int w)
{
    int id = blockIdx.x * NTHREADS + threadIdx.x;
    int zeile, spalte, i;
    float acc;

    if (id >= w * w)
        return;

    zeile = id / w;
    spalte = id - zeile * w;

    acc = 0;
    i = 0;
    while (i < w) {
        acc = acc + m[zeile * w + i] * n[i * w + spalte];
        i++;
    }
    p[id] = acc;
}

static void die_if(cudaError_t e, const char *where)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(e));
        exit(EXIT_FAILURE);
    }
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *dm = NULL, *dn = NULL, *dp = NULL;
    int count = width * width;
    size_t size = count * sizeof *dm;
    int nblocks;
    cudaError_t err;

    err = cudaMalloc((void **)&dm, size);
    if (err != cudaSuccess) goto out;
    err = cudaMalloc((void **)&dn, size);
    if (err != cudaSuccess) goto out;
    err = cudaMalloc((void **)&dp, size);
    if (err != cudaSuccess) goto out;

    err = cudaMemcpy(dm, M, size, cudaMemcpyHostToDevice);
    if (err != cudaSuccess) goto out;
    err = cudaMemcpy(dn, N, size, cudaMemcpyHostToDevice);
    if (err != cudaSuccess) goto out;

    nblocks = count / NTHREADS;
    if (count % NTHREADS != 0)
        nblocks++;

    mm<<<nblocks, NTHREADS>>>(dm, dn, dp, width);
    err = cudaGetLastError();
    if (err != cudaSuccess) goto out;

    err = cudaMemcpy(P, dp, size, cudaMemcpyDeviceToHost);

out:
    cudaFree(dm);
    cudaFree(dn);
    cudaFree(dp);
    die_if(err, "solve");
}
