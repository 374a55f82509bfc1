#include <cuda_runtime.h>

#define BM 64
#define BN 64
#define BK 8
#define TM 8

// Each thread has TM results below each other; the pointers move on along K.
__global__ void sgemm1DBlocktiling(int M, int N, int K, const float *A, const float *B, float *C)
{
    const unsigned cRow = blockIdx.y;
    const unsigned cCol = blockIdx.x;
    const int threadCol = threadIdx.x % BN;
    const int threadRow = threadIdx.x / BN;

    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];

    A += cRow * BM * K;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;

    const unsigned innerColA = threadIdx.x % BK;
    const unsigned innerRowA = threadIdx.x / BK;
    const unsigned innerColB = threadIdx.x % BN;
    const unsigned innerRowB = threadIdx.x / BN;
    const int rowsLeft = M - cRow * BM;
    const int colsLeft = N - cCol * BN;

    float threadResults[TM] = {0.0f};
    for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
        const int kLeft = K - bkIdx;
        As[innerRowA * BK + innerColA] =
            (int)innerRowA < rowsLeft && (int)innerColA < kLeft ? A[innerRowA * K + innerColA] : 0.0f;
        Bs[innerRowB * BN + innerColB] =
            (int)innerRowB < kLeft && (int)innerColB < colsLeft ? B[innerRowB * N + innerColB] : 0.0f;
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
            float tmpB = Bs[dotIdx * BN + threadCol];
            for (int resIdx = 0; resIdx < TM; ++resIdx) {
                threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
            }
        }
        __syncthreads();
    }
    for (int resIdx = 0; resIdx < TM; ++resIdx) {
        if (threadRow * TM + resIdx < rowsLeft && threadCol < colsLeft)
            C[(threadRow * TM + resIdx) * N + threadCol] = threadResults[resIdx];
    }
}

void solve(const float *A, const float *B, float *C, int j, int k, int l)
{
    dim3 gridDim((l + BN - 1) / BN, (j + BM - 1) / BM);
    dim3 blockDim((BM * BN) / TM);
    sgemm1DBlocktiling<<<gridDim, blockDim>>>(j, l, k, A, B, C);
}
