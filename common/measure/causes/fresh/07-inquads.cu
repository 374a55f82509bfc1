#include <cuda_runtime.h>

#define BLOCK 64
#define DEPTH 16
#define QD (DEPTH / 4) /* quads in a row of the left tile */
#define QB (BLOCK / 4) /* quads in a row of the right tile */
#define ZERO4 make_float4(0, 0, 0, 0)

/* quad q of row r: four neighbours, as many of them as there are */
__device__ float4 read_quad(const float *x, int r, int q, int height, int width)
{
    float4 v = ZERO4;
    int c = 4 * q;
    if (r >= height || c >= width)
        return v;
    if ((width & 3) == 0)
        return ((const float4 *)x)[r * (width >> 2) + q];
    x += (long)r * width + c;
    switch (width - c) {
    default: v.w = x[3]; /* fall through */
    case 3: v.z = x[2]; /* fall through */
    case 2: v.y = x[1]; /* fall through */
    case 1: v.x = x[0];
    }
    return v;
}

__device__ void write_quad(float *x, int r, int q, int height, int width, float4 v)
{
    int c = 4 * q;
    if (r >= height || c >= width)
        return;
    if ((width & 3) == 0) {
        ((float4 *)x)[r * (width >> 2) + q] = v;
        return;
    }
    x += (long)r * width + c;
    x[0] = v.x;
    if (c + 1 < width) x[1] = v.y;
    if (c + 2 < width) x[2] = v.z;
    if (c + 3 < width) x[3] = v.w;
}

__device__ float4 plus_times(float4 sum, float f, float4 v)
{
    return make_float4(sum.x + f * v.x, sum.y + f * v.y, sum.z + f * v.z, sum.w + f * v.w);
}

__global__ void in_quads(const float *M, const float *N, float *P, int j, int k, int l)
{
    __shared__ float4 left[BLOCK * QD];
    __shared__ float4 right[DEPTH * QB];
    const int t = threadIdx.x;
    const int ty = t / QB, tx = t % QB;
    const int row0 = blockIdx.y * BLOCK;
    const int quad0 = blockIdx.x * QB;
    float4 sum[4] = {ZERO4, ZERO4, ZERO4, ZERO4};
    int phase = 0;

    do {
        left[t] = read_quad(M, row0 + t / QD, phase * QD + t % QD, j, k);
        right[t] = read_quad(N, phase * DEPTH + t / QB, quad0 + t % QB, k, l);
        __syncthreads();
        for (int d = 0; d < QD; d++) {
            for (int i = 0; i < 4; i++) {
                const float4 m = left[(ty + 16 * i) * QD + d];
                const float4 *n = right + 4 * d * QB + tx;
                sum[i] = plus_times(sum[i], m.x, n[0]);
                sum[i] = plus_times(sum[i], m.y, n[QB]);
                sum[i] = plus_times(sum[i], m.z, n[2 * QB]);
                sum[i] = plus_times(sum[i], m.w, n[3 * QB]);
            }
        }
        __syncthreads();
    } while (++phase * DEPTH < k);

    for (int i = 0; i < 4; i++)
        write_quad(P, row0 + ty + 16 * i, quad0 + tx, j, l, sum[i]);
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 blocks((l + BLOCK - 1) / BLOCK, (j + BLOCK - 1) / BLOCK);
    in_quads<<<blocks, 256>>>(M, N, P, j, k, l);
}
