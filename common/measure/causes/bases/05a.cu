#include <cuda_runtime.h>

#define TB 64
#define TK 8
#define RT 4

__global__ void sgemm(const float* A, const float* B, float* C, int M, int K, int N)
{
    __shared__ float sa[TB][TK];
    __shared__ float sb[TK][TB];
    const int tid = threadIdx.x;
    const int tr = tid / 16;
    const int tc = tid % 16;
    float acc[RT][RT];
    for (int i = 0; i < RT; i++)
        for (int j = 0; j < RT; j++)
            acc[i][j] = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TK) {
        for (int q = tid; q < TB * TK; q += 256) {
            int rr = q / TK;
            int kk = q % TK;
            int gr = blockIdx.y * TB + rr;
            float va = 0.0f;
            if (gr < M && k0 + kk < K) va = A[gr * K + k0 + kk];
            sa[rr][kk] = va;
        }
        for (int q = tid; q < TK * TB; q += 256) {
            int kk = q / TB;
            int cc = q % TB;
            int gc = blockIdx.x * TB + cc;
            float vb = 0.0f;
            if (k0 + kk < K && gc < N) vb = B[(k0 + kk) * N + gc];
            sb[kk][cc] = vb;
        }
        __syncthreads();
        for (int kk = 0; kk < TK; kk++) {
            float ra[RT], rb[RT];
            for (int i = 0; i < RT; i++)
                ra[i] = sa[tr + 16 * i][kk];
            for (int j = 0; j < RT; j++)
                rb[j] = sb[kk][tc + 16 * j];
            for (int i = 0; i < RT; i++)
                for (int j = 0; j < RT; j++)
                    acc[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < RT; i++) {
        int r = blockIdx.y * TB + tr + 16 * i;
        for (int j = 0; j < RT; j++) {
            int c = blockIdx.x * TB + tc + 16 * j;
            if (r < M && c < N)
                C[r * N + c] = acc[i][j];
        }
    }
}

void solve(const float* A, const float* B, float* C, int M, int K, int N)
{
    dim3 grid((N + TB - 1) / TB, (M + TB - 1) / TB);
    sgemm<<<grid, 256>>>(A, B, C, M, K, N);
}
