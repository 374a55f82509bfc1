#include <cuda_runtime.h>

enum { TILE = 32, K_TILE = 16, R = 4 };

struct View {
    const float *data;
    int height, width;
    __device__ float get(int y, int x) const
    {
        return y < height && x < width ? data[y * width + x] : 0.0f;
    }
};

__global__ void viewed(View a, View b, float *c)
{
    __shared__ float as[TILE][K_TILE];
    __shared__ float bs[K_TILE][TILE];
    const int t = threadIdx.y * 8 + threadIdx.x;
    const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    float acc[R][R] = {};
    float x[R], y[R];

    for (int kk = 0; kk < a.width; kk += K_TILE) {
        for (int i = t; i < TILE * K_TILE; i += 64) {
            as[i / K_TILE][i % K_TILE] = a.get(top + i / K_TILE, kk + i % K_TILE);
            bs[i / TILE][i % TILE] = b.get(kk + i / TILE, left + i % TILE);
        }
        __syncthreads();
        for (int k = 0; k < K_TILE; k++) {
#pragma unroll
            for (int i = 0; i < R; i++) {
                x[i] = as[threadIdx.y * R + i][k];
                y[i] = bs[k][threadIdx.x * R + i];
            }
#pragma unroll
            for (int i = 0; i < R * R; i++)
                acc[i / R][i % R] += x[i / R] * y[i % R];
        }
        __syncthreads();
    }
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) {
            int row = top + threadIdx.y * R + i, col = left + threadIdx.x * R + j;
            if (row < a.height && col < b.width)
                c[row * b.width + col] = acc[i][j];
        }
}

void solve(const float *A, const float *B, float *C, int j, int k, int l)
{
    View a = {A, j, k}, b = {B, k, l};
    viewed<<<dim3((l + TILE - 1) / TILE, (j + TILE - 1) / TILE), dim3(8, 8)>>>(a, b, C);
}
