// Tiles are plain 1-D arrays of 256 floats. Pointers into M and N move on by one tile per turn.
#include "check.h"

#define SIDE 16

__global__ void matmul(const float *M, const float *N, float *P, int width)
{
    __shared__ float sM[SIDE * SIDE];
    __shared__ float sN[SIDE * SIDE];

    const int c = threadIdx.x, r = threadIdx.y;
    const int me = r * SIDE + c;

    const float *pm = M + (size_t)(blockIdx.y * SIDE + r) * width + c;
    const float *pn = N + (size_t)r * width + blockIdx.x * SIDE + c;
    const float *stop = M + (size_t)(blockIdx.y * SIDE + r + 1) * width;

    float total = 0.f;
    do {
        sM[me] = *pm;
        sN[me] = *pn;
        __syncthreads();

        const float *x = sM + r * SIDE;
        const float *y = sN + c;
        int left = SIDE;
        do {
            total += *x * *y;
            x++;
            y += SIDE;
        } while (--left);
        __syncthreads();

        pm += SIDE;
        pn += (size_t)SIDE * width;
    } while (pm < stop);

    float *out = P + (size_t)blockIdx.y * SIDE * width + blockIdx.x * SIDE;
    out[(size_t)r * width + c] = total;
}

void solve(const float *M, const float *N, float *P, int width)
{
    const int b = width / SIDE;
    matmul<<<dim3(b, b), dim3(SIDE, SIDE)>>>(M, N, P, width);
    CHECK(cudaGetLastError());
}
