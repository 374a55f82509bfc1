/* lab 7 in the style of our image library: macros for four floats at a time */
#include "check.h"

#define TILE 64
#define DEEP 16
#define NT 256
#define LD4(p) (*(const float4 *)(p))
#define ST4(p, v) (*(float4 *)(p) = (v))
#define ALIGNED(cols) (((cols) & 3) == 0)

__device__ float4 get4(const float *src, int have, int vec)
{
    /* have: how many of the four floats exist, may be <= 0 or > 4 */
    float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (have <= 0)
        return v;
    if (vec)
        return LD4(src);
    v.x = src[0];
    if (have > 1) v.y = src[1];
    if (have > 2) v.z = src[2];
    if (have > 3) v.w = src[3];
    return v;
}

__device__ void axpy4(float4 *y, float a, float4 x)
{
    y->x += a * x.x;
    y->y += a * x.y;
    y->z += a * x.z;
    y->w += a * x.w;
}

__global__ void k07(const float *M, const float *N, float *P, int j, int k, int l)
{
    __shared__ float4 sm[TILE][DEEP / 4];
    __shared__ float4 sn[DEEP][TILE / 4];
    int t = threadIdx.x, tx = t & 15, ty = t >> 4;
    int y0 = blockIdx.y * TILE, x0 = blockIdx.x * TILE;
    int mr = t >> 2, mi = (t & 3) * 4; /* what I copy of M ... */
    int ni = t >> 4, nc = (t & 15) * 4; /* ... and of N */
    float4 acc[4];
    int p, q;

    for (q = 0; q < 4; q++)
        acc[q] = make_float4(0.f, 0.f, 0.f, 0.f);

    for (p = 0; p < k; p += DEEP) {
        sm[mr][mi / 4] = get4(M + (size_t)(y0 + mr) * k + p + mi,
                              y0 + mr < j ? k - p - mi : 0, ALIGNED(k));
        sn[ni][nc / 4] = get4(N + (size_t)(p + ni) * l + x0 + nc,
                              p + ni < k ? l - x0 - nc : 0, ALIGNED(l));
        __syncthreads();

#pragma unroll
        for (int i = 0; i < DEEP / 4; i++) {
            float4 b0 = sn[4 * i][tx], b1 = sn[4 * i + 1][tx];
            float4 b2 = sn[4 * i + 2][tx], b3 = sn[4 * i + 3][tx];
#pragma unroll
            for (q = 0; q < 4; q++) {
                float4 a = sm[ty + 16 * q][i];
                axpy4(&acc[q], a.x, b0);
                axpy4(&acc[q], a.y, b1);
                axpy4(&acc[q], a.z, b2);
                axpy4(&acc[q], a.w, b3);
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (q = 0; q < 4; q++) {
        int row = y0 + ty + 16 * q, col = x0 + 4 * tx;
        float *dst = P + (size_t)row * l + col;
        if (row >= j || col >= l)
            continue;
        if (ALIGNED(l)) {
            ST4(dst, acc[q]);
        } else {
            dst[0] = acc[q].x;
            if (col + 1 < l) dst[1] = acc[q].y;
            if (col + 2 < l) dst[2] = acc[q].z;
            if (col + 3 < l) dst[3] = acc[q].w;
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 g;
    g.x = (l + TILE - 1) / TILE;
    g.y = (j + TILE - 1) / TILE;
    k07<<<g, NT>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
