#include <cuda_runtime.h>

struct Place { int row, col; };

constexpr int kRows = 64, kCols = 32, kDepth = 16, kThreads = 128;

__device__ Place placeOf(int index, int width)
{
    Place p;
    p.row = index / width;
    p.col = index - p.row * width;
    return p;
}

// 4 x 4 results per thread; the tile of A stands transposed, with padding
__global__ void wide(const float* a, const float* b, float* c, int rows, int depth, int cols)
{
    __shared__ float at[kDepth][kRows + 1];
    __shared__ float bt[kDepth][kCols];
    Place me = placeOf(threadIdx.x, kCols / 4);
    float r[16] = {};
    int rowBase = blockIdx.y * kRows;
    int colBase = blockIdx.x * kCols;
    for (int k = 0; k < depth; k += kDepth) {
        for (int idx = threadIdx.x; idx < kRows * kDepth; idx += kThreads) {
            Place p = placeOf(idx, kDepth);
            bool in = rowBase + p.row < rows && k + p.col < depth;
            at[p.col][p.row] = in ? a[(rowBase + p.row) * depth + k + p.col] : 0.0f;
        }
        for (int idx = threadIdx.x; idx < kDepth * kCols; idx += kThreads) {
            Place p = placeOf(idx, kCols);
            bool in = k + p.row < depth && colBase + p.col < cols;
            bt[p.row][p.col] = in ? b[(k + p.row) * cols + colBase + p.col] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < kDepth; d++)
            for (int e = 0; e < 16; e++)
                r[e] += at[d][me.row * 4 + e / 4] * bt[d][me.col + kCols / 4 * (e % 4)];
        __syncthreads();
    }
    for (int e = 0; e < 16; e++) {
        int row = rowBase + me.row * 4 + e / 4;
        int col = colBase + me.col + kCols / 4 * (e % 4);
        if (row < rows && col < cols)
            c[row * cols + col] = r[e];
    }
}

void solve(const float* a, const float* b, float* c, int j, int k, int l)
{
    dim3 grid((l + kCols - 1) / kCols, (j + kRows - 1) / kRows);
    wide<<<grid, kThreads>>>(a, b, c, j, k, l);
}
