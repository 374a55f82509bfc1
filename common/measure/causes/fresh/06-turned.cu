#include <cuda_runtime.h>

#define TS 32
#define WPT 4
#define RTS (TS / WPT)

// A's tile is kept turned, with one column more
__global__ void turned(const float *A, const float *B, float *C, int M, int K, int N)
{
    const int row = threadIdx.y;          // 0..7
    const int col = threadIdx.x;          // 0..31
    const int globalCol = TS * blockIdx.x + col;
    __shared__ float Asub[TS][TS + 1];
    __shared__ float Bsub[TS][TS];
    float acc[WPT];
    for (int w = 0; w < WPT; w++)
        acc[w] = 0.0f;

    const int numTiles = (K + TS - 1) / TS;
    for (int t = 0; t < numTiles; t++) {
        for (int w = 0; w < WPT; w++) {
            const int line = row + w * RTS;
            const int tiledRow = TS * t + line;
            const int tiledCol = TS * t + col;
            const int globalRow = TS * blockIdx.y + line;
            Asub[col][line] = (globalRow < M && tiledCol < K) ? A[globalRow * K + tiledCol] : 0.0f;
            Bsub[line][col] = (tiledRow < K && globalCol < N) ? B[tiledRow * N + globalCol] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TS; k++)
            for (int w = 0; w < WPT; w++)
                acc[w] += Asub[k][row + w * RTS] * Bsub[k][col];
        __syncthreads();
    }
    for (int w = 0; w < WPT; w++) {
        const int globalRow = TS * blockIdx.y + row + w * RTS;
        if (globalRow < M && globalCol < N)
            C[globalRow * N + globalCol] = acc[w];
    }
}

void solve(const float *A, const float *B, float *C, int M, int K, int N)
{
    turned<<<dim3((N + TS - 1) / TS, (M + TS - 1) / TS), dim3(TS, RTS)>>>(A, B, C, M, K, N);
}
