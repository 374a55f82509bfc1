#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#define BLK 32
#define STAGES 3

// a ring of three stages; every thread has 2 x 2 results
__global__ void ring(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float ra[STAGES][BLK][BLK];
    __shared__ float rb[STAGES][BLK][BLK];
    int tx = threadIdx.x, ty = threadIdx.y;
    int r0 = blockIdx.y * BLK, c0 = blockIdx.x * BLK;
    int count = (k + BLK - 1) / BLK;
    float w00 = 0, w01 = 0, w10 = 0, w11 = 0;

    auto request = [&](int tile) {
        int slot = tile % STAGES;
        for (int y = ty; y < BLK; y += 16)
            for (int x = tx; x < BLK; x += 16) {
                int ar = r0 + y, ac = tile * BLK + x;
                int br = tile * BLK + y, bc = c0 + x;
                if (ar < m && ac < k)
                    __pipeline_memcpy_async(&ra[slot][y][x], &a[ar * k + ac], 4);
                else
                    ra[slot][y][x] = 0.0f;
                if (br < k && bc < n)
                    __pipeline_memcpy_async(&rb[slot][y][x], &b[br * n + bc], 4);
                else
                    rb[slot][y][x] = 0.0f;
            }
    };

    for (int s = 0; s < STAGES - 1; s++) {
        if (s < count)
            request(s);
        __pipeline_commit();
    }
    for (int t = 0; t < count; t++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        if (t + STAGES - 1 < count)
            request(t + STAGES - 1);
        __pipeline_commit();
        int slot = t % STAGES;
        for (int e = 0; e < BLK; e++) {
            float a0 = ra[slot][ty][e], a1 = ra[slot][ty + 16][e];
            float b0 = rb[slot][e][tx], b1 = rb[slot][e][tx + 16];
            w00 += a0 * b0;
            w01 += a0 * b1;
            w10 += a1 * b0;
            w11 += a1 * b1;
        }
    }
    int row = r0 + ty, col = c0 + tx;
    if (row < m && col < n) c[row * n + col] = w00;
    if (row < m && col + 16 < n) c[row * n + col + 16] = w01;
    if (row + 16 < m && col < n) c[(row + 16) * n + col] = w10;
    if (row + 16 < m && col + 16 < n) c[(row + 16) * n + col + 16] = w11;
}

void solve(const float *a, const float *b, float *c, int m, int k, int n)
{
    dim3 grid((n + BLK - 1) / BLK, (m + BLK - 1) / BLK);
    ring<<<grid, dim3(16, 16)>>>(a, b, c, m, k, n);
}
