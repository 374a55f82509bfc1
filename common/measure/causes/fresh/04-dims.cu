/* A parameter block in constant memory; the kernel takes the pointers only. */
#include <cuda_runtime.h>

#define T 16
#define IDX(y, x, pitch) ((size_t)(y) * (pitch) + (x))

struct params { int rows, inner, cols; };
__constant__ struct params p_;

static __global__ void gemm(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C)
{
    __shared__ float sa[T][T], sb[T][T];
    const int y = blockIdx.y * T + threadIdx.y;
    const int x = blockIdx.x * T + threadIdx.x;
    const int rounds = (p_.inner + T - 1) / T;
    float s = 0.f;
    for (int k = 0; k < rounds; ++k) {
        const int ka = k * T + threadIdx.x;
        const int kb = k * T + threadIdx.y;
        float va = 0.f, vb = 0.f;
        if (y < p_.rows && ka < p_.inner)
            va = A[IDX(y, ka, p_.inner)];
        if (kb < p_.inner && x < p_.cols)
            vb = B[IDX(kb, x, p_.cols)];
        sa[threadIdx.y][threadIdx.x] = va;
        sb[threadIdx.y][threadIdx.x] = vb;
        __syncthreads();
        for (int i = 0; i != T; ++i)
            s += sa[threadIdx.y][i] * sb[i][threadIdx.x];
        __syncthreads();
    }
    if (y >= p_.rows || x >= p_.cols)
        return;
    C[IDX(y, x, p_.cols)] = s;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    struct params h;
    h.rows = j;
    h.inner = k;
    h.cols = l;
    cudaMemcpyToSymbol(p_, &h, sizeof h);
    dim3 g, b(T, T, 1);
    g.x = (l + b.x - 1) / b.x;
    g.y = (j + b.y - 1) / b.y;
    g.z = 1;
    gemm<<<g, b>>>(M, N, P);
}
