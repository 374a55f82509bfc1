#include <cuda_runtime.h>

#define BM 64
#define BN 64
#define BK 8
#define WM 32
#define WN 32
#define NWARPS 4

// four warps, each 32 x 32 results; a lane has 8 rows and 4 columns
__global__ void warptiles(const float *A, const float *B, float *C, int M, int K, int N)
{
    __shared__ float As[BK][BM + 4];
    __shared__ float Bs[BK][BN];
    const int tid = threadIdx.x;
    const int warpIdx = tid >> 5;
    const int laneIdx = tid & 31;
    const int warpRow = warpIdx / 2;
    const int warpCol = warpIdx % 2;
    const int laneRow = laneIdx / 8;
    const int laneCol = laneIdx % 8;
    const int rowStart = warpRow * WM + laneRow * 8;
    const int colStart = warpCol * WN + laneCol * 4;

    float res[8][4];
    for (int i = 0; i < 32; i++)
        res[i / 4][i % 4] = 0.f;

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = tid; i < BM * BK; i += NWARPS * 32) {
            int r = i / BK, kk = i % BK;
            int gr = blockIdx.y * BM + r, gk = k0 + kk;
            As[kk][r] = (gr < M && gk < K) ? A[gr * K + gk] : 0.f;
        }
        for (int i = tid; i < BK * BN; i += NWARPS * 32) {
            int kk = i / BN, c = i % BN;
            int gk = k0 + kk, gc = blockIdx.x * BN + c;
            Bs[kk][c] = (gk < K && gc < N) ? B[gk * N + gc] : 0.f;
        }
        __syncthreads();
        for (int kk = 0; kk < BK; kk++) {
            float rm[8], rn[4];
            for (int i = 0; i < 8; i++)
                rm[i] = As[kk][rowStart + i];
            for (int j = 0; j < 4; j++)
                rn[j] = Bs[kk][colStart + j];
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 4; j++)
                    res[i][j] += rm[i] * rn[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++) {
        int gr = blockIdx.y * BM + rowStart + i;
        for (int j = 0; j < 4; j++) {
            int gc = blockIdx.x * BN + colStart + j;
            if (gr < M && gc < N)
                C[gr * N + gc] = res[i][j];
        }
    }
}

void solve(const float *A, const float *B, float *C, int M, int K, int N)
{
    dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
    warptiles<<<blocks, NWARPS * 32>>>(A, B, C, M, K, N);
}
