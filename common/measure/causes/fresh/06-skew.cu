#include <cuda_runtime.h>

#define B_M 64
#define B_N 64
#define B_K 16
#define PITCH (B_M + 4)
#define AS(k, m) aT[(k) * PITCH + (m)]
#define BS(k, n) bT[(k) * B_N + (n)]

// A is turned on its way to shared memory, with four words between the rows
__global__ void skewed(const float *A, const float *B, float *C, int m, int k, int n)
{
    __shared__ float aT[B_K * PITCH];
    __shared__ float bT[B_K * B_N];
    const int lane = threadIdx.x;
    const int tr = lane / 16;
    const int tc = lane % 16;
    const int m0 = blockIdx.y * B_M;
    const int n0 = blockIdx.x * B_N;
    float acc[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            acc[i][j] = 0.0f;

    for (int k0 = 0; k0 < k; k0 += B_K) {
        for (int s = 0; s < 4; s++) {
            int r = tr + 16 * s;
            bool in = m0 + r < m && k0 + tc < k;
            AS(tc, r) = in ? A[(m0 + r) * k + k0 + tc] : 0.0f;
        }
        for (int s = 0; s < 4; s++) {
            int q = tc + 16 * s;
            bool in = k0 + tr < k && n0 + q < n;
            BS(tr, q) = in ? B[(k0 + tr) * n + n0 + q] : 0.0f;
        }
        __syncthreads();
        for (int kk = 0; kk < B_K; kk++) {
            for (int i = 0; i < 4; i++) {
                float av = AS(kk, tr + 16 * i);
                for (int j = 0; j < 4; j++)
                    acc[i][j] += av * BS(kk, tc + 16 * j);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (m0 + tr + 16 * i < m && n0 + tc + 16 * j < n)
                C[(m0 + tr + 16 * i) * n + n0 + tc + 16 * j] = acc[i][j];
}

void solve(const float *A, const float *B, float *C, int m, int k, int n)
{
    dim3 g((n + B_N - 1) / B_N, (m + B_M - 1) / B_M);
    skewed<<<g, 256>>>(A, B, C, m, k, n);
}
