// lab4  xu
#include <stdio.h>
#include "check.h"

#define B 16
#define AT(p, ld, r, c) (p)[(size_t)(r) * (ld) + (c)]
#define DIVUP(a, b) (((a) + (b) - 1) / (b))
#define OK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { \
    printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); goto fail; } } while (0)

__global__ void mm(const float *M, const float *N, float *P, int j, int k, int l)
{
    __shared__ float s[B][B], t[B][B];
    int x = threadIdx.x, y = threadIdx.y;
    int r = blockIdx.y * B + y;
    int c = blockIdx.x * B + x;
    int full = k / B, rest = k % B;
    float sum = 0;

    /* full tiles: only the outer edges need care */
    for (int ph = 0; ph < full; ph++) {
        s[y][x] = r < j ? AT(M, k, r, ph * B + x) : 0;
        t[y][x] = c < l ? AT(N, l, ph * B + y, c) : 0;
        __syncthreads();
        for (int i = 0; i < B; i++)
            sum += s[y][i] * t[i][x];
        __syncthreads();
    }

    /* the last one, if k is no multiple of B */
    if (rest) {
        if (r < j && x < rest) s[y][x] = AT(M, k, r, full * B + x);
        else s[y][x] = 0;
        if (c < l && y < rest) t[y][x] = AT(N, l, full * B + y, c);
        else t[y][x] = 0;
        __syncthreads();
        for (int i = 0; i < rest; i++)
            sum += s[y][i] * t[i][x];
    }

    if (r >= j || c >= l) return;
    AT(P, l, r, c) = sum;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 thr(B, B), blk(DIVUP(l, B), DIVUP(j, B));
    mm<<<blk, thr>>>(M, N, P, j, k, l);
    OK(cudaGetLastError());
    return;
fail:
    exit(1);
}
