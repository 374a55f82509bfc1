#include "check.h"

// 64 x 64 of C per block, 256 threads in a row, 4 x 4 per thread
const int TILE = 64, DEPTH = 16, PER = 4, SIDE = TILE / PER;

__global__ void gemm(const float *A, const float *B, float *C, int rowsA, int inner, int colsB)
{
    __shared__ float As[DEPTH * TILE];      // column by column
    __shared__ float Bs[DEPTH * TILE];      // row by row

    const int tid = threadIdx.x;
    const int trow = tid / SIDE;
    const int tcol = tid % SIDE;
    const int baseRow = blockIdx.y * TILE;
    const int baseCol = blockIdx.x * TILE;

    float acc[PER * PER];
    for (int i = 0; i < PER * PER; i++) acc[i] = 0.0f;

    for (int off = 0; off < inner; off += DEPTH) {
        for (int idx = tid; idx < TILE * DEPTH; idx += blockDim.x) {
            const int ar = idx / DEPTH, ac = idx % DEPTH;
            const int gr = baseRow + ar, gc = off + ac;
            float val = 0.0f;
            if (gr < rowsA && gc < inner) val = A[(size_t)gr * inner + gc];
            As[ac * TILE + ar] = val;
        }
        for (int idx = tid; idx < TILE * DEPTH; idx += blockDim.x) {
            const int br = idx / TILE, bc = idx % TILE;
            const int gr = off + br, gc = baseCol + bc;
            float val = 0.0f;
            if (gr < inner && gc < colsB) val = B[(size_t)gr * colsB + gc];
            Bs[br * TILE + bc] = val;
        }
        __syncthreads();

        for (int d = 0; d < DEPTH; d++) {
            float a[PER], b[PER];
            for (int i = 0; i < PER; i++) a[i] = As[d * TILE + trow * PER + i];
            for (int i = 0; i < PER; i++) b[i] = Bs[d * TILE + tcol + i * SIDE];
            for (int i = 0; i < PER * PER; i++) acc[i] += a[i / PER] * b[i % PER];
        }
        __syncthreads();
    }

    for (int i = 0; i < PER; i++) {
        const int gr = baseRow + trow * PER + i;
        if (gr >= rowsA) break;
        for (int n = 0; n < PER; n++) {
            const int gc = baseCol + tcol + n * SIDE;
            if (gc >= colsB) continue;
            C[(size_t)gr * colsB + gc] = acc[i * PER + n];
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
    gemm<<<grid, SIDE * SIDE>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
