#include "check.h"

#define BM 64
#define BN 64
#define BK 8
#define PAD 4                      // 8 lanes go down (68 * i), 4 rows side by side: 4 * i + r
#define LD (BM + PAD)
#define NTHR 256

// flat shared arrays, the tile of M transposed: word i * LD + r
__global__ __launch_bounds__(NTHR) void sgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    extern __shared__ float smem[];
    float *sA = smem;
    float *sB = smem + BK * LD;

    int t = threadIdx.x;
    int tr = t / 16, tc = t % 16;

    // who loads what
    int aRow = t / BK, aCol = t % BK;        // 32 rows at a time
    int bRow = t / BN, bCol = t % BN;        // 4 rows at a time

    int rowBase = blockIdx.y * BM;
    int colBase = blockIdx.x * BN;

    float c[4][4] = {};
    int nIter = (k + BK - 1) / BK;
    for (int it = 0; it < nIter; ++it) {
        int kBase = it * BK;
        for (int h = 0; h < BM; h += NTHR / BK) {
            int gr = rowBase + aRow + h;
            float v = 0.f;
            if (gr < m && kBase + aCol < k) v = A[(size_t)gr * k + kBase + aCol];
            sA[aCol * LD + aRow + h] = v;
        }
        for (int h = 0; h < BK; h += NTHR / BN) {
            int gk = kBase + bRow + h;
            float v = 0.f;
            if (gk < k && colBase + bCol < n) v = B[(size_t)gk * n + colBase + bCol];
            sB[(bRow + h) * BN + bCol] = v;
        }
        __syncthreads();

        const float *pa = sA + tr * 4;
        const float *pb = sB + tc;
#pragma unroll
        for (int i = 0; i < BK; ++i, pa += LD, pb += BN) {
            float b0 = pb[0], b1 = pb[16], b2 = pb[32], b3 = pb[48];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                c[r][0] += pa[r] * b0;
                c[r][1] += pa[r] * b1;
                c[r][2] += pa[r] * b2;
                c[r][3] += pa[r] * b3;
            }
        }
        __syncthreads();
    }

    for (int r = 0; r < 4; ++r) {
        int row = rowBase + tr * 4 + r;
        if (row >= m) return;
        float *line = C + (size_t)row * n + colBase + tc;
        for (int x = 0; x < 4; ++x)
            if (colBase + tc + 16 * x < n) line[16 * x] = c[r][x];
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 grid((l + BN - 1) / BN, (j + BM - 1) / BM);
    size_t shmem = (BK * LD + BK * BN) * sizeof(float);
    sgemm<<<grid, NTHR, shmem>>>(j, l, k, M, N, P);
    CHECK(cudaGetLastError());
}
