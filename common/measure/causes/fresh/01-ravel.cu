#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

// One long row of threads; each goes on by the whole grid until P is done.
#define DIE_IF(call)                                                        \
    do {                                                                    \
        cudaError_t err_ = (call);                                          \
        if (err_ != cudaSuccess) {                                          \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(err_));   \
            exit(EXIT_FAILURE);                                             \
        }                                                                   \
    } while (0)

static const int kThreads = 192;

__device__ float rowTimesColumn(const float *a, const float *b, int stepA, int stepB, int count)
{
    float total = 0;
    while (count-- > 0) {
        total += *a * *b;
        a += stepA;
        b += stepB;
    }
    return total;
}

__global__ void ravelled(float *out, const float *left, const float *right, int side, int total)
{
    const int hop = gridDim.x * blockDim.x;
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < total; at += hop) {
        const int r = at / side;
        const int c = at - r * side;
        out[at] = rowTimesColumn(left + r * side, right + c, 1, side, side);
    }
}

static float *onDevice(const float *host, int count)
{
    float *there = NULL;
    DIE_IF(cudaMalloc((void **)&there, count * sizeof(float)));
    if (host)
        DIE_IF(cudaMemcpy(there, host, count * sizeof(float), cudaMemcpyHostToDevice));
    return there;
}

void solve(const float *M, const float *N, float *P, int width)
{
    const int total = width * width;
    float *left = onDevice(M, total);
    float *right = onDevice(N, total);
    float *out = onDevice(NULL, total);
    int blocks = (total + kThreads - 1) / kThreads;
    if (blocks > 64)
        blocks = 64;
    ravelled<<<blocks, kThreads>>>(out, left, right, width, total);
    DIE_IF(cudaGetLastError());
    DIE_IF(cudaMemcpy(P, out, total * sizeof(float), cudaMemcpyDeviceToHost));
    DIE_IF(cudaFree(left));
    DIE_IF(cudaFree(right));
    DIE_IF(cudaFree(out));
}
