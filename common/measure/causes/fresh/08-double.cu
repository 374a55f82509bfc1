#include <cuda_runtime.h>
#include <cuda_pipeline_primitives.h>

#define BS 32
#define BK 8

__global__ void doubleBuffer(const float *A, const float *B, float *C, int M, int K, int N)
{
    __shared__ float As[2][BS][BK];
    __shared__ float Bs[2][BK][BS];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int ar = tid / BK, ac = tid % BK;
    const int br = tid / BS, bc = tid % BS;
    const int rowA = blockIdx.y * BS + ar;
    const int colB = blockIdx.x * BS + bc;
    const int ty = threadIdx.y * 2, tx = threadIdx.x * 2;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    const int nTiles = (K + BK - 1) / BK;
    int stage = 0;

    for (int t = 0; t <= nTiles; ++t) {
        if (t < nTiles) {
            const int ka = t * BK + ac, kb = t * BK + br;
            if (rowA < M && ka < K)
                __pipeline_memcpy_async(&As[stage][ar][ac], &A[rowA * K + ka], 4);
            else
                As[stage][ar][ac] = 0.0f;
            if (kb < K && colB < N)
                __pipeline_memcpy_async(&Bs[stage][br][bc], &B[kb * N + colB], 4);
            else
                Bs[stage][br][bc] = 0.0f;
        }
        __pipeline_commit();
        if (t > 0) {
            __pipeline_wait_prior(1);
            __syncthreads();
            const int use = stage ^ 1;
            for (int k = 0; k < BK; ++k) {
                float a0 = As[use][ty][k], a1 = As[use][ty + 1][k];
                float b0 = Bs[use][k][tx], b1 = Bs[use][k][tx + 1];
                c00 += a0 * b0;
                c01 += a0 * b1;
                c10 += a1 * b0;
                c11 += a1 * b1;
            }
            __syncthreads();
        }
        stage ^= 1;
    }
    const int r = blockIdx.y * BS + ty, c = blockIdx.x * BS + tx;
    if (r < M && c < N) C[r * N + c] = c00;
    if (r < M && c + 1 < N) C[r * N + c + 1] = c01;
    if (r + 1 < M && c < N) C[(r + 1) * N + c] = c10;
    if (r + 1 < M && c + 1 < N) C[(r + 1) * N + c + 1] = c11;
}

void solve(const float *A, const float *B, float *C, int M, int K, int N)
{
    dim3 dimBlock(16, 16);
    dim3 dimGrid((N + BS - 1) / BS, (M + BS - 1) / BS);
    doubleBuffer<<<dimGrid, dimBlock>>>(A, B, C, M, K, N);
}
