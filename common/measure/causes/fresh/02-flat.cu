#include <cuda_runtime.h>
#define TW 16
#define TSIZE (TW * TW)

__global__ void tiled(const float *A, const float *B, float *C, int n)
{
    __shared__ float ta[TSIZE], tb[TSIZE];
    const int tid = threadIdx.x;
    const int ly = tid / TW;
    const int lx = tid % TW;

    // where this block starts
    const float *pa = A + blockIdx.y * TW * n;
    const float *pb = B + blockIdx.x * TW;
    float *pc = C + blockIdx.y * TW * n + blockIdx.x * TW;

    float r = 0.0f;
    for (int done = 0; done < n; done += TW)
    {
        ta[tid] = pa[ly * n + lx];
        tb[tid] = pb[ly * n + lx];
        __syncthreads();

        for (int q = 0; q < TW; q++)
            r += ta[ly * TW + q] * tb[q * TW + lx];
        __syncthreads();

        pa += TW;
        pb += TW * n;
    }
    pc[ly * n + lx] = r;
}

void solve(const float *A, const float *B, float *C, int n)
{
    int t = n / TW;
    tiled<<<dim3(t, t), TSIZE>>>(A, B, C, n);
    cudaDeviceSynchronize();
}
