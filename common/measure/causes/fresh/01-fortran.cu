// lab 1 - one thread, one entry of the result.  (used to write this in f90, so i/j/n)
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static const int NTHREADS = 192;

// subroutine matmul_gpu(a, b, c, n)
__global__ void matmul_gpu(const float *a, const float *b, float *c, int n)
{
    int me = blockIdx.x * NTHREADS + threadIdx.x;
    int i, j, m;
    float s;

    if (me < n * n)
    {
        i = me / n;          // row, counted from zero here!
        j = me - i * n;      // column
        s = 0.f;
        for (m = 0; m < n; m++)
            s = s + a[i * n + m] * b[m * n + j];
        c[me] = s;
    }
}

void solve(const float *M, const float *N, float *P, int width)
{
    float *a = NULL, *b = NULL, *c = NULL;
    cudaError_t ierr;
    int total = width * width;
    size_t nbytes = (size_t)total * sizeof(float);
    int nblocks;

    ierr = cudaMalloc((void **)&a, nbytes);
    if (ierr != cudaSuccess) goto fail;
    ierr = cudaMalloc((void **)&b, nbytes);
    if (ierr != cudaSuccess) goto fail;
    ierr = cudaMalloc((void **)&c, nbytes);
    if (ierr != cudaSuccess) goto fail;

    ierr = cudaMemcpy(a, M, nbytes, cudaMemcpyHostToDevice);
    if (ierr != cudaSuccess) goto fail;
    ierr = cudaMemcpy(b, N, nbytes, cudaMemcpyHostToDevice);
    if (ierr != cudaSuccess) goto fail;

    nblocks = total / NTHREADS;
    if (total % NTHREADS != 0) nblocks = nblocks + 1;
    matmul_gpu<<<nblocks, NTHREADS>>>(a, b, c, width);
    ierr = cudaGetLastError();
    if (ierr != cudaSuccess) goto fail;

    ierr = cudaMemcpy(P, c, nbytes, cudaMemcpyDeviceToHost);

fail:
    cudaFree(c);
    cudaFree(b);
    cudaFree(a);
    if (ierr != cudaSuccess)
    {
        fprintf(stderr, "matmul_gpu: %s\n", cudaGetErrorString(ierr));
        exit(1);
    }
}
