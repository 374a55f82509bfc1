// C / embedded background: pointers that walk, flat shared arrays
#include "check.h"

#define T 16u

__global__ void kern(const float *pa, const float *pb, float *pc, int width)
{
    __shared__ float bufA[T * T];
    __shared__ float bufB[T * T];

    const unsigned lx = threadIdx.x, ly = threadIdx.y;
    const unsigned me = ly * T + lx;
    const unsigned w  = (unsigned)width;

    pa += (blockIdx.y * T + ly) * w + lx;
    pb += ly * w + blockIdx.x * T + lx;
    pc += (blockIdx.y * T + ly) * w + blockIdx.x * T + lx;

    float acc = 0.0f;
    unsigned left = w / T;
    while (left--) {
        bufA[me] = *pa;
        bufB[me] = *pb;
        __syncthreads();

        const float *u = &bufA[ly * T];
        const float *v = &bufB[lx];
        for (unsigned n = T; n != 0; n--) {
            acc += *u++ * *v;
            v += T;
        }
        pa += T;
        pb += T * w;
        __syncthreads();
    }
    *pc = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
    const unsigned nb = (unsigned)width / T;
    kern<<<dim3(nb, nb, 1), dim3(T, T, 1)>>>(M, N, P, width);
    CHECK(cudaGetLastError());
}
