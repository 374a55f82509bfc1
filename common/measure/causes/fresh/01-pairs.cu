#include <stdio.h>
#include <cuda_runtime.h>

#define N_THREADS 64
#define OK(x) if ((x) != cudaSuccess) printf("line %d\n", __LINE__)

/* every thread two elements of one row, the second one N_THREADS further right */
__device__ float scalar(const float *v, const float *w, int len, int inc)
{
    float s = 0.f;
    for (int q = len - 1; q >= 0; q--)
        s += v[q] * w[q * inc];
    return s;
}

__global__ void two_each(const float *A, const float *B, float *C, int dim)
{
    int zeile = blockIdx.y;
    int spalte = 2 * N_THREADS * blockIdx.x + threadIdx.x;
    const float *v = A + zeile * dim;
    if (spalte < dim)
        C[zeile * dim + spalte] = scalar(v, B + spalte, dim, dim);
    spalte += N_THREADS;
    if (spalte < dim)
        C[zeile * dim + spalte] = scalar(v, B + spalte, dim, dim);
}

void solve(const float *A, const float *B, float *C, int dim)
{
    float *g[3];
    size_t sz = sizeof(float) * dim * dim;
    for (int i = 0; i < 3; i++)
        OK(cudaMalloc((void **)&g[i], sz));
    OK(cudaMemcpy(g[0], A, sz, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(g[1], B, sz, cudaMemcpyHostToDevice));

    dim3 grid((dim + 2 * N_THREADS - 1) / (2 * N_THREADS), dim);
    two_each<<<grid, N_THREADS>>>(g[0], g[1], g[2], dim);
    OK(cudaGetLastError());

    OK(cudaMemcpy(C, g[2], sz, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 3; i++)
        OK(cudaFree(g[i]));
}
