#include <cuda_runtime.h>

#include "copy_async.h"

#define BLOCK_ROWS 128
#define BLOCK_COLS 128
#define DEPTH 16
#define A_PITCH (DEPTH + 4)
#define A_WORDS (BLOCK_ROWS * A_PITCH)
#define B_WORDS (DEPTH * BLOCK_COLS)
#define OUT_PITCH 48
#define AS4(p) (*(float4 *)(p))
#define UP(n, by) (((n) + (by) - 1) / (by))

struct Matrix {
    const float *at;
    int rows, cols;
};

// Where a thread stands: its warp's corner in the block, and its own place in the warp.
struct Place {
    int top, left, y, x, warp, lane;
    __device__ Place()
    {
        warp = threadIdx.x >> 5;
        lane = threadIdx.x & 31;
        top = (warp >> 2) * 64;
        left = (warp & 3) * 32;
        y = ((lane >> 1) & 1) | ((lane >> 3) << 1);
        x = (lane & 1) | (((lane >> 2) & 1) << 1);
    }
};

__device__ void bring(float *to, const Matrix &m, int row, int col)
{
    const size_t offset = (size_t)row * m.cols + col;
    if (m.cols & 3) {
        for (int i = 0; i < 4; i++) {
            const bool ok = row < m.rows && col + i < m.cols;
            copy_async<4>(to + i, ok ? m.at + offset + i : m.at, ok);
        }
    } else {
        const bool ok = row < m.rows && col < m.cols;
        copy_async<16>(to, ok ? m.at + offset : m.at, ok);
    }
}

__device__ void bring_stage(float *a, float *b, const Matrix &m, const Matrix &n, int from)
{
    for (int e = threadIdx.x; e < BLOCK_ROWS * DEPTH / 4; e += 256) {
        const int r = e / (DEPTH / 4), c = e % (DEPTH / 4) * 4;
        bring(a + r * A_PITCH + c, m, blockIdx.y * BLOCK_ROWS + r, from + c);
    }
    for (int e = threadIdx.x; e < DEPTH * BLOCK_COLS / 4; e += 256) {
        const int r = e / (BLOCK_COLS / 4), c = e % (BLOCK_COLS / 4) * 4;
        bring(b + r * BLOCK_COLS + c, n, from + r, blockIdx.x * BLOCK_COLS + c);
    }
    __pipeline_commit();
}

__global__ void __launch_bounds__(256, 2) warps(Matrix m, Matrix n, float *p)
{
    __shared__ __align__(16) float a[2][A_WORDS];
    __shared__ __align__(16) float b[2][B_WORDS];
    __shared__ __align__(16) float rows[8][8 * OUT_PITCH];
    const Place at;
    float acc[8][8] = {};
    int stage = 0;

    bring_stage(a[0], b[0], m, n, 0);
    for (int from = 0; from < m.cols; from += DEPTH, stage ^= 1) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (from + DEPTH < m.cols)
            bring_stage(a[stage ^ 1], b[stage ^ 1], m, n, from + DEPTH);
        for (int d = 0; d < DEPTH; d += 4) {
            float mine[8][4];
            for (int r = 0; r < 8; r++)
                AS4(mine[r]) = AS4(a[stage] + (at.top + at.y + 8 * r) * A_PITCH + d);
            for (int s = 0; s < 4; s++) {
                const float *line = b[stage] + (d + s) * BLOCK_COLS + at.left;
                const float4 first = AS4(line + at.x * 4), second = AS4(line + at.x * 4 + 16);
                const float other[8] = {first.x,  first.y,  first.z,  first.w,
                                        second.x, second.y, second.z, second.w};
                for (int r = 0; r < 8; r++)
                    for (int c = 0; c < 8; c++)
                        acc[r][c] += mine[r][s] * other[c];
            }
        }
    }

    float *out = rows[at.warp];
    const int col = blockIdx.x * BLOCK_COLS + at.left + at.lane;
    for (int r = 0; r < 8; r++) {
        float *to = out + at.y * OUT_PITCH + at.x * 4;
        AS4(to) = make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
        AS4(to + 16) = make_float4(acc[r][4], acc[r][5], acc[r][6], acc[r][7]);
        __syncwarp();
        for (int s = 0; s < 8; s++) {
            const int row = blockIdx.y * BLOCK_ROWS + at.top + 8 * r + s;
            if (row < m.rows && col < n.cols)
                p[(size_t)row * n.cols + col] = out[s * OUT_PITCH + at.lane];
        }
        __syncwarp();
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    const Matrix m = {M, j, k}, n = {N, k, l};
    warps<<<dim3(UP(l, BLOCK_COLS), UP(j, BLOCK_ROWS)), 256>>>(m, n, P);
}
