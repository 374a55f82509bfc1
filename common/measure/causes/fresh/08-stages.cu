#include "copy_async.h"

#define S 3
#define BLK 32
#define KT 16

// 32 x 32 results per block, 2 x 2 per thread, three stages
__global__ void staged(const float* A, const float* B, float* C, int m, int k, int n)
{
    __shared__ float bufA[S][BLK][KT];
    __shared__ float bufB[S][KT][BLK];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int r0 = blockIdx.y * BLK, c0 = blockIdx.x * BLK;
    const int nt = (k + KT - 1) / KT;
    float w[2][2] = {{0, 0}, {0, 0}};

    for (int t = 0; t < nt + S - 1; ++t) {
        if (t < nt) {
            int slot = t % S;
            for (int h = 0; h < 2; ++h) {
                int ar = r0 + ty + h * 16, ac = t * KT + tx;
                bool okA = ar < m && ac < k;
                copy_async<4>(&bufA[slot][ty + h * 16][tx], okA ? &A[ar * k + ac] : A, okA);
                int br = t * KT + ty, bc = c0 + tx + h * 16;
                bool okB = br < k && bc < n;
                copy_async<4>(&bufB[slot][ty][tx + h * 16], okB ? &B[br * n + bc] : B, okB);
            }
        }
        __pipeline_commit();
        if (t < S - 1) continue;
        int use = (t - (S - 1)) % S;
        __pipeline_wait_prior(S - 1);
        __syncthreads();
        for (int q = 0; q < KT; ++q)
            for (int i = 0; i < 4; ++i)
                w[i / 2][i % 2] += bufA[use][ty + (i / 2) * 16][q] * bufB[use][q][tx + (i % 2) * 16];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        int r = r0 + ty + (i / 2) * 16, c = c0 + tx + (i % 2) * 16;
        if (r < m && c < n) C[r * n + c] = w[i / 2][i % 2];
    }
}

void solve(const float* A, const float* B, float* C, int m, int k, int n)
{
    staged<<<dim3((n + BLK - 1) / BLK, (m + BLK - 1) / BLK), dim3(16, 16)>>>(A, B, C, m, k, n);
}
