#include "check.h"
#include <cstdint>

// 128 threads, 8 x 4 results each: 64 x 64 per block, 8 deep
enum { H = 64, W = 64, D = 8, RH = 8, RW = 4, NT = (H / RH) * (W / RW) };

__global__ void k5(const float *m, const float *n, float *p, int j, int k, int l)
{
    __shared__ float sm[D][H];
    __shared__ float sn[D][W];
    const int t = threadIdx.x;
    const int gx = t % (W / RW), gy = t / (W / RW);
    const int r0 = blockIdx.y * H, c0 = blockIdx.x * W;

    // loader of M: 8 threads per row, 16 rows at a time
    const int mi = t % D, mr = t / D;
    // loader of N: 64 threads per row, 2 rows at a time
    const int nc = t % W, ni = t / W;
    const float *pm = m + size_t(r0 + mr) * k + mi;
    const float *pn = n + size_t(ni) * l + c0 + nc;

    float acc[RH][RW];
    for (int a = 0; a < RH; a++)
        for (int b = 0; b < RW; b++) acc[a][b] = 0.f;

    for (int z = 0; z < k; z += D)
    {
        const float *q = pm;
        for (int r = mr; r < H; r += NT / D)
        {
            bool ok = r0 + r < j && z + mi < k;
            sm[mi][r] = ok ? *q : 0.f;
            q += size_t(NT / D) * k;
        }
        q = pn;
        for (int i = ni; i < D; i += NT / W)
        {
            bool ok = z + i < k && c0 + nc < l;
            sn[i][nc] = ok ? *q : 0.f;
            q += size_t(NT / W) * l;
        }
        pm += D;
        pn += size_t(D) * l;
        __syncthreads();

#pragma unroll
        for (int i = 0; i < D; i++)
        {
            float left[RH];
#pragma unroll
            for (int a = 0; a < RH; a++) left[a] = sm[i][gy * RH + a];
#pragma unroll
            for (int b = 0; b < RW; b++)
            {
                float right = sn[i][gx + b * (W / RW)];
#pragma unroll
                for (int a = 0; a < RH; a++) acc[a][b] = fmaf(left[a], right, acc[a][b]);
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int a = 0; a < RH; a++)
    {
        int row = r0 + gy * RH + a;
        if (row >= j) break;
        float *out = p + size_t(row) * l;
#pragma unroll
        for (int b = 0; b < RW; b++)
        {
            int col = c0 + gx + b * (W / RW);
            if (col < l) out[col] = acc[a][b];
        }
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    dim3 g((l + W - 1) / W, (j + H - 1) / H);
    k5<<<g, NT>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
