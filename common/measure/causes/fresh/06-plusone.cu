#include <cuda_runtime.h>

const int TILE_M = 64, TILE_N = 64, TILE_K = 8;
const int PER = 4;

__device__ int clampedIndex(int r, int c, int ld) { return r * ld + c; }

__global__ void mmPlusOne(const float* A, const float* B, float* C, int H, int D, int W)
{
    __shared__ float a[TILE_M][TILE_K + 1];
    __shared__ float b[TILE_K][TILE_N];
    int lane_x = threadIdx.x, lane_y = threadIdx.y;
    int lin = lane_y * blockDim.x + lane_x;
    int top = blockIdx.y * TILE_M, left = blockIdx.x * TILE_N;
    float out[PER][PER] = {{0}};

    for (int k0 = 0; k0 < D; k0 += TILE_K) {
        // M: 64 x 8, two elements per thread
        for (int n = 0; n < 2; ++n) {
            int row = lin / TILE_K + n * 32;
            int dep = lin % TILE_K;
            bool ok = (top + row < H) && (k0 + dep < D);
            a[row][dep] = ok ? A[clampedIndex(top + row, k0 + dep, D)] : 0.f;
        }
        // N: 8 x 64, two elements per thread
        for (int n = 0; n < 2; ++n) {
            int dep = lin / TILE_N + n * 4;
            int cl = lin % TILE_N;
            bool ok = (k0 + dep < D) && (left + cl < W);
            b[dep][cl] = ok ? B[clampedIndex(k0 + dep, left + cl, W)] : 0.f;
        }
        __syncthreads();
        for (int dep = 0; dep < TILE_K; ++dep)
            for (int y = 0; y < PER; ++y)
                for (int x = 0; x < PER; ++x)
                    out[y][x] += a[lane_y + y * 16][dep] * b[dep][lane_x + x * 16];
        __syncthreads();
    }
    for (int y = 0; y < PER; ++y)
        for (int x = 0; x < PER; ++x) {
            int row = top + lane_y + y * 16;
            int cl = left + lane_x + x * 16;
            if (row < H && cl < W)
                C[clampedIndex(row, cl, W)] = out[y][x];
        }
}

void solve(const float* A, const float* B, float* C, int H, int D, int W)
{
    dim3 threads(16, 16);
    dim3 blocks((W + TILE_N - 1) / TILE_N, (H + TILE_M - 1) / TILE_M);
    mmPlusOne<<<blocks, threads>>>(A, B, C, H, D, W);
}
