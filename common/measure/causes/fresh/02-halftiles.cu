// Half of the block's threads bring M, the other half N: two elements each.
#include <cuda_runtime.h>

#define W 16
#define HALF (W * W / 2)

__global__ void halves(const float *M, const float *N, float *P, int width)
{
    __shared__ float left[W * W];
    __shared__ float right[W * W];

    const int me = threadIdx.y * W + threadIdx.x;
    const bool brings_left = me < HALF;
    const int first = me % HALF;
    const int top = blockIdx.y * W;
    const int side = blockIdx.x * W;
    float total = 0.0f;

    for (int part = 0; part < width / W; part++) {
        for (int e = first; e < W * W; e += HALF) {
            const int r = e / W;
            const int c = e - r * W;
            if (brings_left)
                left[e] = M[(top + r) * width + part * W + c];
            else
                right[e] = N[(part * W + r) * width + side + c];
        }
        __syncthreads();
        const float *lrow = &left[threadIdx.y * W];
        const float *rcol = &right[threadIdx.x];
        for (int i = 0; i < W; i++, lrow++, rcol += W)
            total += *lrow * *rcol;
        __syncthreads();
    }
    P[(top + threadIdx.y) * width + side + threadIdx.x] = total;
}

void solve(const float *M, const float *N, float *P, int width)
{
    dim3 threads(W, W);
    dim3 blocks(width / W, width / W);
    halves<<<blocks, threads>>>(M, N, P, width);
}
