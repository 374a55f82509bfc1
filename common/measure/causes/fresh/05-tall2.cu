/* 128 x 64 outputs per block, 8 x 4 per thread; the M tile is kept as it lies in memory */
#include "check.h"

#define TILE_M 128
#define TILE_N 64
#define TILE_K 8
#define RPT 8                   /* rows per thread, TY apart */
#define CPT 4                   /* cols per thread, TX apart */
#define TX (TILE_N / CPT)
#define TY (TILE_M / RPT)

__device__ void load_m(float (*dst)[TILE_K + 1], const float *M, int j, int k, int r0, int k0)
{
    int kx = threadIdx.x % TILE_K;
    int ry = threadIdx.y * (TX / TILE_K) + threadIdx.x / TILE_K;   /* 0..31 */
    for (; ry < TILE_M; ry += TY * TX / TILE_K) {
        bool in = r0 + ry < j && k0 + kx < k;
        dst[ry][kx] = in ? M[(size_t)(r0 + ry) * k + k0 + kx] : 0.0f;
    }
}

__device__ void load_n(float (*dst)[TILE_N], const float *N, int k, int l, int k0, int c0)
{
    int kk = threadIdx.y;
    if (kk >= TILE_K) return;
    const float *src = N + (size_t)(k0 + kk) * l + c0;
    for (int c = threadIdx.x; c < TILE_N; c += TX)
        dst[kk][c] = (k0 + kk < k && c0 + c < l) ? src[c] : 0.0f;
}

__global__ void tall(const float *M, const float *N, float *P, int j, int k, int l)
{
    __shared__ float ms[TILE_M][TILE_K + 1];
    __shared__ float ns[TILE_K][TILE_N];
    int r0 = blockIdx.y * TILE_M, c0 = blockIdx.x * TILE_N;
    int x = threadIdx.x, y = threadIdx.y;
    float out[RPT][CPT] = {{0}};

    for (int k0 = 0; k0 < k; k0 += TILE_K) {
        load_m(ms, M, j, k, r0, k0);
        load_n(ns, N, k, l, k0, c0);
        __syncthreads();

        for (int q = 0; q < TILE_K; q++) {
            float row[CPT];
            for (int c = 0; c < CPT; c++) row[c] = ns[q][x + c * TX];
            for (int r = 0; r < RPT; r++) {
                float v = ms[y + r * TY][q];
                for (int c = 0; c < CPT; c++) out[r][c] += v * row[c];
            }
        }
        __syncthreads();
    }

    for (int r = 0; r < RPT; r++) {
        int gr = r0 + y + r * TY;
        if (gr >= j) break;
        for (int c = 0; c < CPT; c++) {
            int gc = c0 + x + c * TX;
            if (gc < l) P[(size_t)gr * l + gc] = out[r][c];
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 block(TX, TY);
    dim3 grid((l + TILE_N - 1) / TILE_N, (j + TILE_M - 1) / TILE_M);
    tall<<<grid, block>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
