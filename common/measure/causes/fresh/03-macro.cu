#include <cuda_runtime.h>
#include <math.h>

#define SZ 16
#define IDX(r, c) ((r) * n + (c))

__device__ __forceinline__ float fetch(const float* mat, int r, int c, int n)
{
    if (r >= n) return 0.0f;
    if (c >= n) return 0.0f;
    return mat[IDX(r, c)];
}

__global__ void gemmChecked(const float* A, const float* B, float* C, int n)
{
    __shared__ float bufA[SZ * SZ];
    __shared__ float bufB[SZ * SZ];
    int lr = threadIdx.y, lc = threadIdx.x;
    int gr = lr + SZ * blockIdx.y;
    int gc = lc + SZ * blockIdx.x;
    int here = lr * SZ + lc;
    float cell = 0;
    int steps = (int)ceil((double)n / SZ);
    int s = 0;
    while (s < steps) {
        bufA[here] = fetch(A, gr, s * SZ + lc, n);
        bufB[here] = fetch(B, s * SZ + lr, gc, n);
        __syncthreads();
        const float* ra = bufA + lr * SZ;
        const float* cb = bufB + lc;
        for (int e = 0; e < SZ; e++) {
            cell += ra[e] * cb[0];
            cb += SZ;
        }
        __syncthreads();
        s++;
    }
    if (gr >= n || gc >= n) return;
    C[IDX(gr, gc)] = cell;
}

void solve(const float* A, const float* B, float* C, int n)
{
    dim3 tpb(SZ, SZ);
    int nb = (int)ceil((double)n / SZ);
    dim3 bpg(nb, nb);
    gemmChecked<<<bpg, tpb>>>(A, B, C, n);
}
