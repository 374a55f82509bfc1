#include <cuda_runtime.h>

extern __shared__ float pool[];

__global__ void mmDyn(const float *g_a, const float *g_b, float *g_c, int width, int tile)
{
    float *s_a = pool;
    float *s_b = pool + tile * tile;
    int ix = threadIdx.x, iy = threadIdx.y;
    int first = width * tile * blockIdx.y;
    int last = first + width - 1;
    int step = tile;
    int bBegin = tile * blockIdx.x;
    int bStep = tile * width;
    float sub = 0;
    for (int a = first, b = bBegin; a <= last; a += step, b += bStep) {
        s_a[iy * tile + ix] = g_a[a + width * iy + ix];
        s_b[iy * tile + ix] = g_b[b + width * iy + ix];
        __syncthreads();
        for (int k = 0; k < tile; ++k)
            sub += s_a[iy * tile + k] * s_b[k * tile + ix];
        __syncthreads();
    }
    int c = width * tile * blockIdx.y + tile * blockIdx.x;
    g_c[c + width * iy + ix] = sub;
}

void solve(const float *g_a, const float *g_b, float *g_c, int width)
{
    const int tile = 32;
    dim3 threads(tile, tile);
    dim3 grid(width / threads.x, width / threads.y);
    size_t bytes = 2 * tile * tile * sizeof(float);
    mmDyn<<<grid, threads, bytes>>>(g_a, g_b, g_c, width, tile);
}
