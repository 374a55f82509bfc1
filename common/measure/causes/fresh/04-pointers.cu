#include <cuda_runtime.h>
#define TILE_DIM 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

__global__ void gemm_tiles(const float *A, const float *B, float *C, int M, int K, int N)
{
    __shared__ float As[TILE_DIM * TILE_DIM];
    __shared__ float Bs[TILE_DIM * TILE_DIM];

    const int threadCol = threadIdx.x % TILE_DIM;
    const int threadRow = threadIdx.x / TILE_DIM;
    const int cRow = blockIdx.y;
    const int cCol = blockIdx.x;
    const int rowLeft = M - cRow * TILE_DIM;
    const int colLeft = N - cCol * TILE_DIM;

    A += cRow * TILE_DIM * K;
    B += cCol * TILE_DIM;
    C += cRow * TILE_DIM * N + cCol * TILE_DIM;

    float tmp = 0.0f;
    for (int bkIdx = 0; bkIdx < K; bkIdx += TILE_DIM) {
        As[threadRow * TILE_DIM + threadCol] =
            (threadRow < rowLeft && bkIdx + threadCol < K) ? A[threadRow * K + threadCol] : 0.0f;
        Bs[threadRow * TILE_DIM + threadCol] =
            (bkIdx + threadRow < K && threadCol < colLeft) ? B[threadRow * N + threadCol] : 0.0f;
        __syncthreads();
        A += TILE_DIM;
        B += TILE_DIM * N;
        for (int dotIdx = 0; dotIdx < TILE_DIM; ++dotIdx)
            tmp += As[threadRow * TILE_DIM + dotIdx] * Bs[dotIdx * TILE_DIM + threadCol];
        __syncthreads();
    }
    if (threadRow < rowLeft && threadCol < colLeft)
        C[threadRow * N + threadCol] = tmp;
}

void solve(const float *A, const float *B, float *C, int M, int K, int N)
{
    dim3 gridDims(CEIL_DIV(N, TILE_DIM), CEIL_DIV(M, TILE_DIM));
    dim3 blockDims(TILE_DIM * TILE_DIM);
    gemm_tiles<<<gridDims, blockDims>>>(A, B, C, M, K, N);
}
