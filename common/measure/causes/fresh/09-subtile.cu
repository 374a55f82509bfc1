#include <cuda_runtime.h>

constexpr int BM = 64, BN = 64, BK = 8;
constexpr int WARPS_X = 2;
constexpr int WTM = 32, WTN = 32;
constexpr int THREADS = 128;

// warps 2 x 2; lanes 8 x 4, a lane 4 x 8 results, its columns two groups of four
__global__ void __launch_bounds__(THREADS) subtiles(const float *A, const float *B, float *C, int M, int K, int N)
{
    __shared__ float As[BM][BK + 1];
    __shared__ float Bs[BK][BN];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    int wy = w / WARPS_X, wx = w % WARPS_X;
    int ly = lane / 4, lx = lane % 4;
    int bm = blockIdx.y * BM, bn = blockIdx.x * BN;
    float d[4][8];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            d[i][j] = 0.f;

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int t = threadIdx.x; t < BM * BK; t += THREADS) {
            int r = t / BK, c = t % BK;
            As[r][c] = (bm + r < M && k0 + c < K) ? A[(bm + r) * K + k0 + c] : 0.f;
        }
        for (int t = threadIdx.x; t < BK * BN; t += THREADS) {
            int r = t / BN, c = t % BN;
            Bs[r][c] = (k0 + r < K && bn + c < N) ? B[(k0 + r) * N + bn + c] : 0.f;
        }
        __syncthreads();
        for (int kk = 0; kk < BK; kk++) {
            float a[4], b[8];
            for (int i = 0; i < 4; i++)
                a[i] = As[wy * WTM + ly * 4 + i][kk];
            for (int h = 0; h < 2; h++)
                for (int j = 0; j < 4; j++)
                    b[h * 4 + j] = Bs[kk][wx * WTN + h * 16 + lx * 4 + j];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 8; j++)
                    d[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        int r = bm + wy * WTM + ly * 4 + i;
        if (r >= M)
            continue;
        for (int j = 0; j < 8; j++) {
            int c = bn + wx * WTN + (j / 4) * 16 + lx * 4 + j % 4;
            if (c < N)
                C[r * N + c] = d[i][j];
        }
    }
}

void solve(const float *A, const float *B, float *C, int M, int K, int N)
{
    dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);
    subtiles<<<grid, THREADS>>>(A, B, C, M, K, N);
}
