#include <cuda_runtime.h>

template <int S>
__device__ float fetch(const float *mat, int r, int c, int dim)
{
    return (r < dim && c < dim) ? mat[r * dim + c] : 0.0f;
}

template <int S>
__global__ void bounded(const float *A, const float *B, float *C, int dim)
{
    __shared__ float sA[S][S];
    __shared__ float sB[S][S];
    int i = threadIdx.y, j = threadIdx.x;
    int r = S * blockIdx.y + i;
    int c = S * blockIdx.x + j;
    float out = 0.0f;
    int steps = (dim - 1) / S + 1;
    for (int s = 0; s < steps; ++s) {
        sA[i][j] = fetch<S>(A, r, s * S + j, dim);
        sB[i][j] = fetch<S>(B, s * S + i, c, dim);
        __syncthreads();
        for (int e = 0; e < S; ++e)
            out += sA[i][e] * sB[e][j];
        __syncthreads();
    }
    if (r < dim && c < dim)
        C[r * dim + c] = out;
}

void solve(const float *A, const float *B, float *C, int dim)
{
    int g = (dim - 1) / 16 + 1;
    bounded<16><<<dim3(g, g), dim3(16, 16)>>>(A, B, C, dim);
}
