#include <cuda_runtime.h>

#define W 16
#define BAR() __syncthreads()

// What one row of the left tile and one column of the right one give.
__device__ float dot(const float *row, const float *column)
{
    float s = 0.0f;
    for (const float *stop = row + W; row < stop; ++row, column += W)
        s += *row * *column;
    return s;
}

__global__ void walkers(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[W * W], tb[W * W];
    const int me = threadIdx.y * W + threadIdx.x;
    const int corner = blockIdx.y * W * n + blockIdx.x * W;
    const int mine = threadIdx.y * n + threadIdx.x;
    const float *pa = a + blockIdx.y * W * n + mine;
    const float *pb = b + blockIdx.x * W + mine;
    const float *end = pa + n;
    float total = 0.0f;
    while (pa < end) {
        ta[me] = *pa;
        tb[me] = *pb;
        BAR();
        total += dot(ta + threadIdx.y * W, tb + threadIdx.x);
        BAR();
        pa += W;
        pb += W * n;
    }
    c[corner + mine] = total;
}

void solve(const float *M, const float *N, float *P, int width)
{
    walkers<<<dim3(width / W, width / W), dim3(W, W)>>>(M, N, P, width);
}
