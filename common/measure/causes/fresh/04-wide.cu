#include <cuda_runtime.h>

enum { TR = 8, TC = 32, TK = 16 };

// a block has 8 x 32 threads and as many results
__global__ void rectKernel(const float *A, const float *B, float *C, int rowsA, int colsA, int colsB)
{
    __shared__ float a[TR][TK];
    __shared__ float b[TK][TC];
    int ly = threadIdx.y, lx = threadIdx.x;
    int lin = ly * TC + lx;
    int r0 = blockIdx.y * TR, c0 = blockIdx.x * TC;
    float v = 0.f;
    for (int base = 0; base < colsA; base += TK) {
        if (lin < TR * TK) {
            int y = lin / TK, x = lin % TK;
            float w = 0.f;
            if (r0 + y < rowsA && base + x < colsA)
                w = A[(r0 + y) * colsA + base + x];
            a[y][x] = w;
        }
        for (int y = ly; y < TK; y += TR) {
            float w = 0.f;
            if (base + y < colsA && c0 + lx < colsB)
                w = B[(base + y) * colsB + c0 + lx];
            b[y][lx] = w;
        }
        __syncthreads();
        int last = min((int)TK, colsA - base);
        for (int t = 0; t < last; t++)
            v = v + a[ly][t] * b[t][lx];
        __syncthreads();
    }
    int r = r0 + ly, c = c0 + lx;
    if (r >= rowsA || c >= colsB)
        return;
    C[r * colsB + c] = v;
}

void solve(const float *A, const float *B, float *C, int rowsA, int colsA, int colsB)
{
    dim3 threads(TC, TR);
    dim3 blocks((colsB + threads.x - 1) / threads.x, (rowsA + threads.y - 1) / threads.y);
    rectKernel<<<blocks, threads>>>(A, B, C, rowsA, colsA, colsB);
}
