#include <cuda_runtime.h>

/* 128 threads in a line compute 64 x 64: each 8 rows (one below the other) and 4 columns (16 apart) */
#define SIDE 64
#define STEP 16
#define DOWN 8
#define ACROSS 4
#define THREADS ((SIDE / DOWN) * (SIDE / ACROSS))
#define REP(v, n) for (int v = 0; v < (n); v++)

__global__ void tall(const float *A, const float *B, float *C, int m, int inner, int n)
{
    __shared__ float a_tile[STEP * SIDE]; /* column after column */
    __shared__ float b_tile[STEP * SIDE]; /* row after row */

    int tid = threadIdx.x;
    int ty = tid / (SIDE / ACROSS);
    int tx = tid % (SIDE / ACROSS);
    int y0 = blockIdx.y * SIDE;
    int x0 = blockIdx.x * SIDE;
    float acc[DOWN * ACROSS];
    REP(i, DOWN * ACROSS) acc[i] = 0.0f;

    for (int z = 0; z < inner; z += STEP) {
        REP(u, SIDE * STEP / THREADS) {
            int e = u * THREADS + tid;
            int r = e / STEP, c = e % STEP;
            int ok = (y0 + r < m) && (z + c < inner);
            a_tile[c * SIDE + r] = ok ? A[(y0 + r) * inner + (z + c)] : 0.0f;
        }
        REP(u, SIDE * STEP / THREADS) {
            int e = u * THREADS + tid;
            int r = e / SIDE, c = e % SIDE;
            int ok = (z + r < inner) && (x0 + c < n);
            b_tile[r * SIDE + c] = ok ? B[(z + r) * n + (x0 + c)] : 0.0f;
        }
        __syncthreads();

        REP(s, STEP) {
            float b_reg[ACROSS];
            REP(q, ACROSS) b_reg[q] = b_tile[s * SIDE + tx + q * (SIDE / ACROSS)];
            REP(p, DOWN) {
                float left = a_tile[s * SIDE + ty * DOWN + p];
                REP(q, ACROSS) acc[p * ACROSS + q] += left * b_reg[q];
            }
        }
        __syncthreads();
    }

    REP(p, DOWN) REP(q, ACROSS) {
        int y = y0 + ty * DOWN + p;
        int x = x0 + tx + q * (SIDE / ACROSS);
        if (y < m && x < n)
            C[y * n + x] = acc[p * ACROSS + q];
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    int rows = (j + SIDE - 1) / SIDE;
    int cols = (l + SIDE - 1) / SIDE;
    dim3 grid(cols, rows);
    tall<<<grid, THREADS>>>(M, N, P, j, k, l);
}
