#include <cuda_runtime.h>
#include <stdint.h>

template <int WARPS_M, int WARPS_N>
struct Shape {
    static const int M = WARPS_M * 32;
    static const int N = WARPS_N * 64;
    static const int K = 8;
    static const int threads = WARPS_M * WARPS_N * 32;
};
typedef Shape<2, 1> S;

// a warp has 32 x 64 results: lanes 4 x 8, a lane 8 x 8, its columns in two halves
__global__ void laneKernel(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z,
                           int32_t m, int32_t k, int32_t n)
{
    __shared__ float sx[S::K][S::M];
    __shared__ float sy[S::K][S::N];
    uint32_t warp = threadIdx.x / warpSize;
    uint32_t lane = threadIdx.x % warpSize;
    uint32_t lr = lane / 8, lc = lane % 8;
    uint32_t myRow = warp * 32 + lr * 8;
    uint32_t myCol = lc * 4;
    float f[8][8];
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j)
            f[i][j] = 0;

    for (int32_t k0 = 0; k0 < k; k0 += S::K) {
        for (int o = threadIdx.x; o < S::M * S::K; o += S::threads) {
            int32_t r = blockIdx.y * S::M + o / S::K;
            int32_t c = k0 + o % S::K;
            sx[o % S::K][o / S::K] = (r < m && c < k) ? x[r * k + c] : 0;
        }
        for (int o = threadIdx.x; o < S::K * S::N; o += S::threads) {
            int32_t r = k0 + o / S::N;
            int32_t c = blockIdx.x * S::N + o % S::N;
            sy[o / S::N][o % S::N] = (r < k && c < n) ? y[r * n + c] : 0;
        }
        __syncthreads();
        for (int kk = 0; kk < S::K; ++kk) {
            float v[8];
            for (int j = 0; j < 4; ++j) {
                v[j] = sy[kk][myCol + j];
                v[j + 4] = sy[kk][myCol + 32 + j];
            }
            for (int i = 0; i < 8; ++i) {
                float u = sx[kk][myRow + i];
                for (int j = 0; j < 8; ++j)
                    f[i][j] += u * v[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            int32_t r = blockIdx.y * S::M + myRow + i;
            int32_t c = blockIdx.x * S::N + myCol + (j < 4 ? j : 28 + j);
            if (r < m && c < n)
                z[r * n + c] = f[i][j];
        }
}

void solve(const float *x, const float *y, float *z, int m, int k, int n)
{
    dim3 grid((n + S::N - 1) / S::N, (m + S::M - 1) / S::M);
    laneKernel<<<grid, S::threads>>>(x, y, z, m, k, n);
}
