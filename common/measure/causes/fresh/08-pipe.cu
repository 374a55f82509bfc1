#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#define TM 64
#define TN 64
#define TK 16

__device__ void fill(float *dst, const float *src, bool ok)
{
    if (ok)
        __pipeline_memcpy_async(dst, src, sizeof(float));
    else
        *dst = 0.0f;
}

__device__ void loadStage(float (*sa)[TK], float (*sb)[TN], const float *a, const float *b,
                          int m, int k, int n, int by, int bx, int k0, int tid)
{
    for (int i = tid; i < TM * TK; i += 256) {
        int y = i / TK, x = i % TK;
        fill(&sa[y][x], a + (by + y) * k + k0 + x, by + y < m && k0 + x < k);
    }
    for (int i = tid; i < TK * TN; i += 256) {
        int y = i / TN, x = i % TN;
        fill(&sb[y][x], b + (k0 + y) * n + bx + x, k0 + y < k && bx + x < n);
    }
    __pipeline_commit();
}

__global__ void pipelined(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float sa[2][TM][TK];
    __shared__ float sb[2][TK][TN];
    int tid = threadIdx.x;
    int ty = tid / 16, tx = tid % 16;
    int by = blockIdx.y * TM, bx = blockIdx.x * TN;
    float s[4][4] = {};
    int tiles = (k + TK - 1) / TK;

    int cur = 0;
    loadStage(sa[cur], sb[cur], a, b, m, k, n, by, bx, 0, tid);
    for (int t = 0; t < tiles; t++) {
        int nxt = cur ^ 1;
        if (t + 1 < tiles) {
            loadStage(sa[nxt], sb[nxt], a, b, m, k, n, by, bx, (t + 1) * TK, tid);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        for (int q = 0; q < TK; q++) {
            float u[4], v[4];
            for (int i = 0; i < 4; i++) u[i] = sa[cur][ty + 16 * i][q];
            for (int i = 0; i < 4; i++) v[i] = sb[cur][q][tx + 16 * i];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    s[i][j] += u[i] * v[j];
        }
        __syncthreads();
        cur = nxt;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int r = by + ty + 16 * i, q = bx + tx + 16 * j;
            if (r < m && q < n) c[r * n + q] = s[i][j];
        }
}

void solve(const float *a, const float *b, float *c, int m, int k, int n)
{
    pipelined<<<dim3((n + TN - 1) / TN, (m + TM - 1) / TM), 256>>>(a, b, c, m, k, n);
}
