/* Lab 08, three stages. Uses NVIDIA's primitives directly.
   Author: Bekzat (erasmus) */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

static const int ROWS = 64, COLS = 64, STEP = 16;
static const int STAGES = 3;
static const int NTHR = 256;

struct Stage {
    float4 m[ROWS][STEP / 4];
    float4 n[STEP][COLS / 4];
};

struct Source {
    const float *base;
    int rows, cols;
};

/* 4 floats at (row, col) of the source to shared memory; zeros where there are none */
__device__ static void fetch(float4 *dst, const Source &src, int row, int col)
{
    float *out = (float *)dst;
    const float *in = src.base + (size_t)row * src.cols + col;
    if ((src.cols & 3) == 0) {
        int ok = row < src.rows && col < src.cols;
        __pipeline_memcpy_async(out, ok ? in : src.base, 16, ok ? 0 : 16);
        return;
    }
    for (int c = 0; c < 4; c++) {
        int ok = row < src.rows && col + c < src.cols;
        __pipeline_memcpy_async(out + c, ok ? in + c : src.base, 4, ok ? 0 : 4);
    }
}

__device__ static void fill(Stage *st, const Source &m, const Source &n, int y, int x, int at)
{
    int t = threadIdx.x;
    /* 256 threads, 256 float4 in either tile */
    fetch(&st->m[t >> 2][t & 3], m, y + (t >> 2), at + 4 * (t & 3));
    fetch(&st->n[t >> 4][t & 15], n, at + (t >> 4), x + 4 * (t & 15));
}

__global__ void matmul3(Source m, Source n, float *p)
{
    __shared__ Stage stages[STAGES];
    int u = threadIdx.x & 15, v = threadIdx.x >> 4;
    int y = blockIdx.y * ROWS, x = blockIdx.x * COLS;
    int depth = m.cols, width = n.cols;
    float4 s[4];
    for (int r = 0; r < 4; r++)
        s[r] = make_float4(0, 0, 0, 0);

    /* STAGES - 1 groups are on their way before the loop (some may be empty) */
    for (int ahead = 0; ahead < STAGES - 1; ahead++) {
        if (ahead * STEP < depth)
            fill(&stages[ahead], m, n, y, x, ahead * STEP);
        __pipeline_commit();
    }

    int use = 0, load = STAGES - 1;
    for (int at = 0; at < depth; at += STEP) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();

        int next = at + (STAGES - 1) * STEP;
        if (next < depth)
            fill(&stages[load], m, n, y, x, next);
        __pipeline_commit();

        const Stage &now = stages[use];
        for (int q = 0; q < STEP / 4; q++) {
            float4 b0 = now.n[4 * q][u], b1 = now.n[4 * q + 1][u];
            float4 b2 = now.n[4 * q + 2][u], b3 = now.n[4 * q + 3][u];
            for (int r = 0; r < 4; r++) {
                float4 a = now.m[v + 16 * r][q];
                s[r].x += a.x * b0.x + a.y * b1.x + a.z * b2.x + a.w * b3.x;
                s[r].y += a.x * b0.y + a.y * b1.y + a.z * b2.y + a.w * b3.y;
                s[r].z += a.x * b0.z + a.y * b1.z + a.z * b2.z + a.w * b3.z;
                s[r].w += a.x * b0.w + a.y * b1.w + a.z * b2.w + a.w * b3.w;
            }
        }
        use = use + 1 == STAGES ? 0 : use + 1;
        load = load + 1 == STAGES ? 0 : load + 1;
    }

    int col = x + 4 * u;
    for (int r = 0; r < 4; r++) {
        int row = y + v + 16 * r;
        if (row >= m.rows)
            break;
        float *to = p + (size_t)row * width + col;
        if (width % 4 == 0) {
            if (col < width)
                *(float4 *)to = s[r];
        } else {
            if (col < width) to[0] = s[r].x;
            if (col + 1 < width) to[1] = s[r].y;
            if (col + 2 < width) to[2] = s[r].z;
            if (col + 3 < width) to[3] = s[r].w;
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    Source m = {M, j, k}, n = {N, k, l};
    dim3 grid;
    grid.x = (l + COLS - 1) / COLS;
    grid.y = (j + ROWS - 1) / ROWS;
    matmul3<<<grid, NTHR>>>(m, n, P);
    cudaError_t rc = cudaGetLastError();
    if (rc != cudaSuccess) {
        fprintf(stderr, "matmul3 was not launched: %s\n", cudaGetErrorString(rc));
        exit(2);
    }
}
