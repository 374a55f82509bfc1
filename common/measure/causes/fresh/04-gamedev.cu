// Lab04 - R.Delacroix. 32x32 tiles, 32x8 threads, four output rows for each thread.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>

#define GPU_INLINE __device__ __forceinline__
#define GPU_ASSERT(expr)                                                            \
    do {                                                                            \
        cudaError_t e_ = (expr);                                                    \
        if (e_ != cudaSuccess) {                                                    \
            fprintf(stderr, "%s(%d): %s\n", __FILE__, __LINE__, cudaGetErrorName(e_)); \
            __builtin_trap();                                                       \
        }                                                                           \
    } while (0)

static constexpr int kTile = 32;
static constexpr int kRows = 8;                    // rows of threads
static constexpr int kPerThread = kTile / kRows;   // results of a thread, kRows apart

struct Dims {
    int32_t h, w;
};

GPU_INLINE float Fetch(const float* tex, Dims d, int32_t y, int32_t x)
{
    return (y < d.h && x < d.w) ? tex[size_t(y) * d.w + x] : 0.f;
}

__global__ void MatMulKernel(const float* inA, Dims dimA, const float* inB, Dims dimB, float* outC)
{
    __shared__ float cacheA[kTile][kTile];
    __shared__ float cacheB[kTile][kTile];

    const Dims dimC = { dimA.h, dimB.w };
    const int32_t tx = threadIdx.x;
    const int32_t ty = threadIdx.y;
    const int32_t originY = blockIdx.y * kTile;
    const int32_t originX = blockIdx.x * kTile;

    float accum[kPerThread] = { 0.f, 0.f, 0.f, 0.f };

    for (int32_t base = 0; base < dimA.w; base += kTile)
    {
        for (int32_t y = ty; y < kTile; y += kRows)
        {
            cacheA[y][tx] = Fetch(inA, dimA, originY + y, base + tx);
            cacheB[y][tx] = Fetch(inB, dimB, base + y, originX + tx);
        }
        __syncthreads();

        for (int32_t i = 0; i < kTile; ++i)
        {
            const float b = cacheB[i][tx];
            #pragma unroll
            for (int32_t p = 0; p < kPerThread; ++p)
                accum[p] += cacheA[ty + p * kRows][i] * b;
        }
        __syncthreads();
    }

    const int32_t x = originX + tx;
    if (x >= dimC.w)
        return;
    #pragma unroll
    for (int32_t p = 0; p < kPerThread; ++p)
    {
        const int32_t y = originY + ty + p * kRows;
        if (y < dimC.h)
            outC[size_t(y) * dimC.w + x] = accum[p];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l)
{
    const Dims dimM = { j, k };
    const Dims dimN = { k, l };
    dim3 threads(kTile, kRows);
    dim3 groups((dimN.w + kTile - 1) / kTile, (dimM.h + kTile - 1) / kTile);
    MatMulKernel<<<groups, threads>>>(M, dimM, N, dimN, P);
    GPU_ASSERT(cudaGetLastError());
}
