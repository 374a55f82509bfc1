/* three stages in a ring, two groups of copies under way */
#include "check.h"
#include "copy_async.h"

#define ROWS 64
#define COLS 64
#define STEP 16
#define RING 3
#define NTHREADS 256

struct Slot {
    float m[ROWS][STEP];
    float n[STEP][COLS];
};

struct Problem {
    const float *M, *N;
    float *P;
    int j, k, l;
};

__device__ void quad(float *dst, const float *base, int h, int w, int r, int c)
{
    long long at = (long long)r * w + c;
    if (w & 3) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int ok = r < h && c + q < w;
            copy_async<4>(dst + q, ok ? base + at + q : base, ok);
        }
        return;
    }
    int ok = r < h && c < w;
    copy_async<16>(dst, ok ? base + at : base, ok);
}

__device__ void request(Slot *slot, const Problem &pb, int top, int left, int k0)
{
    int t = threadIdx.x;
    int mr = t / (STEP / 4), mc = t % (STEP / 4) * 4;
    int nr = t / (COLS / 4), nc = t % (COLS / 4) * 4;
    quad(&slot->m[mr][mc], pb.M, pb.j, pb.k, top + mr, k0 + mc);
    quad(&slot->n[nr][nc], pb.N, pb.k, pb.l, k0 + nr, left + nc);
}

__global__ void ring_kernel(Problem pb)
{
    __shared__ __align__(16) Slot ring[RING];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int top = blockIdx.y * ROWS, left = blockIdx.x * COLS;
    float4 acc[4] = {};
    int k0 = 0;                 /* what is computed */
    int ahead = 0;              /* what is asked for */
    int use = 0, fill = 0;      /* slots of the two */

    for (; fill < RING - 1; fill++) {
        if (ahead < pb.k) request(&ring[fill], pb, top, left, ahead);
        __pipeline_commit();
        ahead += STEP;
    }

    for (; k0 < pb.k; k0 += STEP) {
        __pipeline_wait_prior(RING - 2);
        __syncthreads();
        if (ahead < pb.k) request(&ring[fill], pb, top, left, ahead);
        __pipeline_commit();    /* possibly an empty group, so that the count stays right */
        ahead += STEP;
        fill = (fill + 1) % RING;

        const Slot &s = ring[use];
#pragma unroll
        for (int i = 0; i < STEP; i += 4) {
            float4 b[4];
            for (int d = 0; d < 4; d++) b[d] = *(const float4 *)&s.n[i + d][4 * tx];
            for (int r = 0; r < 4; r++) {
                float4 a = *(const float4 *)&s.m[ty + 16 * r][i];
                acc[r].x += a.x * b[0].x + a.y * b[1].x + a.z * b[2].x + a.w * b[3].x;
                acc[r].y += a.x * b[0].y + a.y * b[1].y + a.z * b[2].y + a.w * b[3].y;
                acc[r].z += a.x * b[0].z + a.y * b[1].z + a.z * b[2].z + a.w * b[3].z;
                acc[r].w += a.x * b[0].w + a.y * b[1].w + a.z * b[2].w + a.w * b[3].w;
            }
        }
        use = use + 1 == RING ? 0 : use + 1;
    }

    int col = left + 4 * tx;
    for (int r = 0; r < 4; r++) {
        int row = top + ty + 16 * r;
        if (row >= pb.j || col >= pb.l) continue;
        float *out = pb.P + (size_t)row * pb.l + col;
        if (pb.l % 4 == 0) {
            *(float4 *)out = acc[r];
        } else {
            out[0] = acc[r].x;
            if (col + 1 < pb.l) out[1] = acc[r].y;
            if (col + 2 < pb.l) out[2] = acc[r].z;
            if (col + 3 < pb.l) out[3] = acc[r].w;
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    Problem pb;
    pb.M = M; pb.N = N; pb.P = P;
    pb.j = j; pb.k = k; pb.l = l;
    dim3 grid((l + COLS - 1) / COLS, (j + ROWS - 1) / ROWS);
    ring_kernel<<<grid, NTHREADS>>>(pb);
    CHECK(cudaGetLastError());
}
