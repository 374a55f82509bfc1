// three buffers, two of them under way
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define NBUF 3
#define TB 64   // tile of P, square
#define KT 16

struct Buf {
    float a[TB][KT];
    float b[KT][TB];
};

struct Problem {
    const float *A, *B;
    float *C;
    int m, n, k;   // C is m x n
};

// 16 bytes if the rows of src are aligned, otherwise 4 x 4. Missing elements become 0.
__device__ void fetch(float *dst, const float *src, int nr, int nc, int r, int c)
{
    const float *s = src + (size_t)r * nc + c;
    if ((nc & 3) == 0) {
        int skip = (r < nr && c < nc) ? 0 : 16;
        __pipeline_memcpy_async(dst, skip ? src : s, 16, skip);
        return;
    }
    for (int x = 0; x < 4; x++) {
        int skip = (r < nr && c + x < nc) ? 0 : 4;
        __pipeline_memcpy_async(dst + x, skip ? src : s + x, 4, skip);
    }
}

__device__ void issue(Buf &buf, const Problem &p, int phase, int nphases)
{
    if (phase < nphases) {
        int t = threadIdx.x;
        int k0 = phase * KT;
        int ra = t / 4, ca = t % 4 * 4;
        fetch(&buf.a[ra][ca], p.A, p.m, p.k, blockIdx.y * TB + ra, k0 + ca);
        int rb = t / 16, cb = t % 16 * 4;
        fetch(&buf.b[rb][cb], p.B, p.k, p.n, k0 + rb, blockIdx.x * TB + cb);
    }
    __pipeline_commit();   // also when empty, so that the count stays the same
}

__device__ void compute(const Buf &buf, float4 (&acc)[4], int tx, int ty)
{
#pragma unroll
    for (int kk = 0; kk < KT; kk += 4) {
        float4 a[4];
#pragma unroll
        for (int i = 0; i < 4; i++) a[i] = *(const float4 *)&buf.a[ty + 16 * i][kk];
#pragma unroll
        for (int s = 0; s < 4; s++) {
            float4 b = *(const float4 *)&buf.b[kk + s][4 * tx];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float v = s == 0 ? a[i].x : s == 1 ? a[i].y : s == 2 ? a[i].z : a[i].w;
                acc[i].x += v * b.x;
                acc[i].y += v * b.y;
                acc[i].z += v * b.z;
                acc[i].w += v * b.w;
            }
        }
    }
}

__global__ void gemm3(Problem p)
{
    __shared__ __align__(16) Buf ring[NBUF];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int nph = (p.k + KT - 1) / KT;
    float4 acc[4] = {};

    issue(ring[0], p, 0, nph);
    issue(ring[1], p, 1, nph);
    int use = 0, fill = 2;
    for (int ph = 0; ph < nph; ph++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        issue(ring[fill], p, ph + 2, nph);
        compute(ring[use], acc, tx, ty);
        use = use + 1 == NBUF ? 0 : use + 1;
        fill = fill + 1 == NBUF ? 0 : fill + 1;
    }

    int col = blockIdx.x * TB + 4 * tx;
    for (int i = 0; i < 4; i++) {
        int row = blockIdx.y * TB + ty + 16 * i;
        if (row >= p.m) continue;
        float *dst = p.C + (size_t)row * p.n + col;
        if (p.n % 4 == 0) {
            if (col < p.n) *(float4 *)dst = acc[i];
        } else {
            if (col + 0 < p.n) dst[0] = acc[i].x;
            if (col + 1 < p.n) dst[1] = acc[i].y;
            if (col + 2 < p.n) dst[2] = acc[i].z;
            if (col + 3 < p.n) dst[3] = acc[i].w;
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    Problem p = {M, N, P, j, l, k};
    dim3 grid((p.n + TB - 1) / TB, (p.m + TB - 1) / TB);
    gemm3<<<grid, 256>>>(p);
    cudaError_t e = cudaGetLastError();
    if (e) {
        fprintf(stderr, "gemm3: %s\n", cudaGetErrorString(e));
        exit(2);
    }
}
