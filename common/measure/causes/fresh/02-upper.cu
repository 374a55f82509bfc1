#include <cuda_runtime.h>

#define TW 16
#define BARRIER() __syncthreads()
#define AT(A, r, c, w) A[(r) * (w) + (c)]
#define LOAD(dst, A, r, c, w) dst[threadIdx.y][threadIdx.x] = AT(A, r, c, w)

__global__ void MatrixMul(const float* M, const float* N, float* P, int W)
{
    __shared__ float Ms[TW][TW];
    __shared__ float Ns[TW][TW];
    unsigned int r = blockIdx.y * TW + threadIdx.y;
    unsigned int c = blockIdx.x * TW + threadIdx.x;
    float v = 0.0f;
    for (unsigned int t = 0; t < W / TW; t++) {
        LOAD(Ms, M, r, t * TW + threadIdx.x, W);
        LOAD(Ns, N, t * TW + threadIdx.y, c, W);
        BARRIER();
        for (unsigned int i = 0; i < TW; i++)
            v += Ms[threadIdx.y][i] * Ns[i][threadIdx.x];
        BARRIER();
    }
    AT(P, r, c, W) = v;
}

void solve(const float* M, const float* N, float* P, int width)
{
    dim3 grid(width / TW, width / TW, 1), block(TW, TW, 1);
    MatrixMul<<<grid, block>>>(M, N, P, width);
}
