#include <cuda_runtime.h>
#include <stdio.h>

#define RB 64          /* rows of P of a block */
#define CB 64          /* columns */
#define KB 8           /* depth: a warp stores 8 columns x 4 rows */
#define PAD 4
#define LD (RB + PAD)
#define MIN(a, b) ((a) < (b) ? (a) : (b))

__global__ void mult(const float *a, const float *b, float *c, int ha, int wa, int wb)
{
    __shared__ __align__(16) float ta[KB * LD];
    __shared__ float tb[KB * CB];
    float res00[4] = {0}, res01[4] = {0}, res02[4] = {0}, res03[4] = {0};

    int tid = threadIdx.x + threadIdx.y * 16;
    int y0 = RB * blockIdx.y, x0 = CB * blockIdx.x;
    int hh = MIN(RB, ha - y0);   /* rows which exist */
    int ww = MIN(CB, wb - x0);   /* columns which exist */

    a += (size_t)y0 * wa;
    b += x0;
    c += (size_t)y0 * wb + x0;

    for (int k = 0; k < wa; k += KB, a += KB, b += (size_t)KB * wb) {
        int kk = MIN(KB, wa - k);
        for (int e = tid; e < RB * KB; e += 256) {
            int y = e >> 3, z = e & 7;
            ta[z * LD + y] = (y < hh && z < kk) ? a[(size_t)y * wa + z] : 0.0f;
        }
        for (int e = tid; e < KB * CB; e += 256) {
            int z = e >> 6, x = e & 63;
            tb[z * CB + x] = (z < kk && x < ww) ? b[(size_t)z * wb + x] : 0.0f;
        }
        __syncthreads();

        for (int z = 0; z < KB; z++) {
            const float *pa = ta + z * LD + 4 * threadIdx.y;
            const float *pb = tb + z * CB + threadIdx.x;
            float a0 = pa[0], a1 = pa[1], a2 = pa[2], a3 = pa[3];
            for (int q = 0; q < 4; q++) {
                float bq = pb[16 * q];
                res00[q] += a0 * bq;
                res01[q] += a1 * bq;
                res02[q] += a2 * bq;
                res03[q] += a3 * bq;
            }
        }
        __syncthreads();
    }

    int y = 4 * threadIdx.y;
    for (int q = 0; q < 4; q++) {
        int x = threadIdx.x + 16 * q;
        if (x >= ww) continue;
        if (y + 0 < hh) c[(size_t)(y + 0) * wb + x] = res00[q];
        if (y + 1 < hh) c[(size_t)(y + 1) * wb + x] = res01[q];
        if (y + 2 < hh) c[(size_t)(y + 2) * wb + x] = res02[q];
        if (y + 3 < hh) c[(size_t)(y + 3) * wb + x] = res03[q];
    }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    int gx = l / CB + (l % CB > 0);
    int gy = j / RB + (j % RB > 0);
    cudaStream_t s;
    cudaStreamCreate(&s);
    mult<<<dim3(gx, gy), dim3(16, 16), 0, s>>>(M, N, P, j, k, l);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) fprintf(stderr, "mult: %s\n", cudaGetErrorString(e));
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
}
