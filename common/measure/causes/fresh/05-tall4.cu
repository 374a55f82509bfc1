/* lab 5: 128 x 64 per block, 8 x 4 per thread, phases of 8, one-dimensional block */
#include "check.h"

#define ROWS 128
#define COLS 64
#define DEPTH 8
#define RPT 8 /* rows per thread, next to each other */
#define CPT 4 /* columns per thread, 16 apart */
#define NT 256
#define GAP (COLS / CPT)

__device__ static void fetch_a(float dst[DEPTH][ROWS], const float *A, int top, int k0, int j, int k)
{
    int i = threadIdx.x % DEPTH;
    int r = threadIdx.x / DEPTH;
    for (; r < ROWS; r += NT / DEPTH) {
        float v = 0;
        if (top + r < j && k0 + i < k)
            v = A[(size_t)(top + r) * k + k0 + i];
        dst[i][r] = v;
    }
}

__device__ static void fetch_b(float dst[DEPTH][COLS], const float *B, int k0, int left, int k, int l)
{
    int c = threadIdx.x % COLS;
    int i = threadIdx.x / COLS;
    for (; i < DEPTH; i += NT / COLS) {
        float v = 0;
        if (k0 + i < k && left + c < l)
            v = B[(size_t)(k0 + i) * l + left + c];
        dst[i][c] = v;
    }
}

__global__ void tall(const float *A, const float *B, float *C, int j, int k, int l)
{
    __shared__ float a[DEPTH][ROWS];
    __shared__ float b[DEPTH][COLS];
    float acc[RPT][CPT];
    int lx = threadIdx.x % GAP, ly = threadIdx.x / GAP;
    int top = blockIdx.y * ROWS, left = blockIdx.x * COLS;

#pragma unroll
    for (int p = 0; p < RPT; p++)
        for (int q = 0; q < CPT; q++)
            acc[p][q] = 0;

    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        fetch_a(a, A, top, k0, j, k);
        fetch_b(b, B, k0, left, k, l);
        __syncthreads();
        for (int i = 0; i < DEPTH; i++) {
            float bv[CPT];
#pragma unroll
            for (int q = 0; q < CPT; q++)
                bv[q] = b[i][lx + q * GAP];
#pragma unroll
            for (int p = 0; p < RPT; p++) {
                float av = a[i][ly * RPT + p];
#pragma unroll
                for (int q = 0; q < CPT; q++)
                    acc[p][q] += av * bv[q];
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int p = 0; p < RPT; p++) {
        int row = top + ly * RPT + p;
        if (row >= j)
            break;
#pragma unroll
        for (int q = 0; q < CPT; q++) {
            int col = left + lx + q * GAP;
            if (col < l)
                C[(size_t)row * l + col] = acc[p][q];
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 g((l + COLS - 1) / COLS, (j + ROWS - 1) / ROWS);
    tall<<<g, NT>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
