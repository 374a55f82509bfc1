#include <cuda_runtime.h>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// 64 x 64 results per block, 8 x 8 per thread
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm2D(int M, int N, int K, const float *A, const float *B, float *C)
{
    const uint cRow = blockIdx.y;
    const uint cCol = blockIdx.x;
    const uint numThreads = BM * BN / (TM * TN);

    const int threadCol = threadIdx.x % (BN / TN);
    const int threadRow = threadIdx.x / (BN / TN);

    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];

    const uint innerRowA = threadIdx.x / BK;
    const uint innerColA = threadIdx.x % BK;
    const uint strideA = numThreads / BK;
    const uint innerRowB = threadIdx.x / BN;
    const uint innerColB = threadIdx.x % BN;
    const uint strideB = numThreads / BN;

    float threadResults[TM * TN] = {0.0};
    float regM[TM] = {0.0};
    float regN[TN] = {0.0};

    for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
        for (uint loadOffset = 0; loadOffset < BM; loadOffset += strideA) {
            uint r = cRow * BM + innerRowA + loadOffset;
            uint c = bkIdx + innerColA;
            As[(innerRowA + loadOffset) * BK + innerColA] = (r < M && c < K) ? A[r * K + c] : 0.0f;
        }
        for (uint loadOffset = 0; loadOffset < BK; loadOffset += strideB) {
            uint r = bkIdx + innerRowB + loadOffset;
            uint c = cCol * BN + innerColB;
            Bs[(innerRowB + loadOffset) * BN + innerColB] = (r < K && c < N) ? B[r * N + c] : 0.0f;
        }
        __syncthreads();

        for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
            for (uint i = 0; i < TM; ++i)
                regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
            for (uint i = 0; i < TN; ++i)
                regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
            for (uint resIdxM = 0; resIdxM < TM; ++resIdxM)
                for (uint resIdxN = 0; resIdxN < TN; ++resIdxN)
                    threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
        }
        __syncthreads();
    }

    for (uint resIdxM = 0; resIdxM < TM; ++resIdxM) {
        for (uint resIdxN = 0; resIdxN < TN; ++resIdxN) {
            uint r = cRow * BM + threadRow * TM + resIdxM;
            uint c = cCol * BN + threadCol * TN + resIdxN;
            if (r < M && c < N)
                C[r * N + c] = threadResults[resIdxM * TN + resIdxN];
        }
    }
}

void solve(const float *A, const float *B, float *C, int m, int k, int n)
{
    const uint BM = 64;
    const uint BN = 64;
    const uint BK = 8;
    const uint TM = 8;
    const uint TN = 8;
    dim3 gridDim(CEIL_DIV(n, BN), CEIL_DIV(m, BM));
    dim3 blockDim((BM * BN) / (TM * TN));
    sgemm2D<BM, BN, BK, TM, TN><<<gridDim, blockDim>>>(m, n, k, A, B, C);
}
