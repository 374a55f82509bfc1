#include <cuda_runtime.h>
#define BS 16
#define SIDE (2 * BS)

// 2 x 2 results per thread, in four scalars
__global__ void twoByTwo(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float as[SIDE][BS];
    __shared__ float bs[BS][SIDE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int r0 = blockIdx.y * SIDE + ty, r1 = r0 + BS;
    int c0 = blockIdx.x * SIDE + tx, c1 = c0 + BS;
    float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int d = 0; d < k; d += BS) {
        as[ty][tx] = r0 < m && d + tx < k ? a[r0 * k + d + tx] : 0;
        as[ty + BS][tx] = r1 < m && d + tx < k ? a[r1 * k + d + tx] : 0;
        bs[ty][tx] = d + ty < k && c0 < n ? b[(d + ty) * n + c0] : 0;
        bs[ty][tx + BS] = d + ty < k && c1 < n ? b[(d + ty) * n + c1] : 0;
        __syncthreads();
        for (int i = 0; i < BS; i++) {
            float x0 = as[ty][i], x1 = as[ty + BS][i];
            float y0 = bs[i][tx], y1 = bs[i][tx + BS];
            s00 += x0 * y0;
            s01 += x0 * y1;
            s10 += x1 * y0;
            s11 += x1 * y1;
        }
        __syncthreads();
    }
    if (r0 < m && c0 < n) c[r0 * n + c0] = s00;
    if (r0 < m && c1 < n) c[r0 * n + c1] = s01;
    if (r1 < m && c0 < n) c[r1 * n + c0] = s10;
    if (r1 < m && c1 < n) c[r1 * n + c1] = s11;
}

void solve(const float *a, const float *b, float *c, int m, int k, int n)
{
    dim3 block(BS, BS);
    dim3 grid((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    twoByTwo<<<grid, block>>>(a, b, c, m, k, n);
}
