// Blocks take tiles of C in turn: tile number b, b + gridDim.x, ...
#include "check.h"

#include <algorithm>

template <int W>
struct Tile {
    float v[W][W];

    __device__ void fill(const float* from, int rows, int cols, int top, int left) {
        int r = top + threadIdx.y;
        int c = left + threadIdx.x;
        bool ok = r < rows && c < cols;
        v[threadIdx.y][threadIdx.x] = ok ? from[(size_t)r * cols + c] : 0.f;
    }
};

template <int W>
__device__ float dot(const Tile<W>& a, const Tile<W>& b) {
    float s = 0.f;
    for (int i = 0; i < W; ++i) s += a.v[threadIdx.y][i] * b.v[i][threadIdx.x];
    return s;
}

template <int W>
__global__ void multiply(const float* A, const float* B, float* C, int j, int k, int l) {
    __shared__ Tile<W> a, b;
    const int down = (j + W - 1) / W;
    const int across = (l + W - 1) / W;

    for (int t = blockIdx.x; t < down * across; t += gridDim.x) {
        const int top = t / across * W;
        const int left = t % across * W;
        float sum = 0.f;
        for (int mid = 0; mid < k; mid += W) {
            a.fill(A, j, k, top, mid);
            b.fill(B, k, l, mid, left);
            __syncthreads();
            sum += dot<W>(a, b);
            __syncthreads();
        }
        int r = top + threadIdx.y;
        int c = left + threadIdx.x;
        if (r < j && c < l) C[(size_t)r * l + c] = sum;
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
    constexpr int W = 16;
    int tiles = ((j + W - 1) / W) * ((l + W - 1) / W);
    multiply<W><<<std::min(tiles, 65535), dim3(W, W)>>>(M, N, P, j, k, l);
    CHECK(cudaGetLastError());
}
