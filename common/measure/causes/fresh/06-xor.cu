#include <cuda_runtime.h>

#define TS 32  /* tile side */
#define WPT 4  /* work per thread */
#define RTS (TS / WPT)

/* element (r, c) of a tile lies in column c ^ r of its row: no padding, no conflicts */
#define AT(tile, r, c) tile[(r) * TS + ((c) ^ (r))]

__global__ void swz(const float* A, const float* B, float* C, int M, int K, int N)
{
    __shared__ float a[TS * TS];   /* turned: a's row is A's column */
    __shared__ float b[TS * TS];
    const int col = threadIdx.x;           /* 0..31 */
    const int row = threadIdx.y;           /* 0..7 */
    const int gCol = TS * blockIdx.x + col;
    const int gRow = TS * blockIdx.y + row;

    float acc[WPT];
    for (int w = 0; w < WPT; w++) acc[w] = 0.0f;

    const int numTiles = (K + TS - 1) / TS;
    for (int t = 0; t < numTiles; t++) {
        for (int w = 0; w < WPT; w++) {
            const int r = row + w * RTS;
            const int tiledCol = TS * t + col;
            const int tiledRow = TS * t + r;
            AT(a, col, r) = (gRow + w * RTS < M && tiledCol < K) ? A[(gRow + w * RTS) * K + tiledCol] : 0.0f;
            AT(b, r, col) = (tiledRow < K && gCol < N) ? B[tiledRow * N + gCol] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TS; k++) {
            const float bk = AT(b, k, col);
            for (int w = 0; w < WPT; w++)
                acc[w] += AT(a, k, row + w * RTS) * bk;
        }
        __syncthreads();
    }
    if (gCol >= N) return;
    for (int w = 0; w < WPT; w++)
        if (gRow + w * RTS < M)
            C[(gRow + w * RTS) * N + gCol] = acc[w];
}

void solve(const float* M, const float* N, float* P, int j, int k, int l)
{
    dim3 threads(TS, TS / WPT);
    dim3 blocks((l + TS - 1) / TS, (j + TS - 1) / TS);
    swz<<<blocks, threads>>>(M, N, P, j, k, l);
}
