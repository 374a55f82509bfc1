#include <cuda_runtime.h>

#define BM 64
#define BN 64
#define BK 16
#define F4(p) (*(float4 *)(p))
#define CF4(p) (*(const float4 *)(p))

__device__ float4 guarded(const float *p, int left, bool rowOk, bool aligned)
{
    float4 f = make_float4(0.f, 0.f, 0.f, 0.f);
    if (!rowOk || left <= 0)
        return f;
    if (aligned)
        return CF4(p);
    f.x = p[0];
    if (left > 1) f.y = p[1];
    if (left > 2) f.z = p[2];
    if (left > 3) f.w = p[3];
    return f;
}

__global__ void sgemmVec(const float *A, const float *B, float *C, int M, int K, int N)
{
    __shared__ __align__(16) float As[BK][BM];
    __shared__ __align__(16) float Bs[BK][BN];
    int tid = threadIdx.x;
    int tr = (tid / 16) * 4, tc = (tid % 16) * 4;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;

    int arow = tid >> 2, acol = (tid & 3) << 2;
    int brow = tid >> 4, bcol = (tid & 15) << 2;

    float acc[4][4] = {0};
    for (int k0 = 0; k0 < K; k0 += BK) {
        float4 va = guarded(A + (row0 + arow) * K + k0 + acol, K - (k0 + acol), row0 + arow < M, K % 4 == 0);
        As[acol + 0][arow] = va.x;
        As[acol + 1][arow] = va.y;
        As[acol + 2][arow] = va.z;
        As[acol + 3][arow] = va.w;
        float4 vb = guarded(B + (k0 + brow) * N + col0 + bcol, N - (col0 + bcol), k0 + brow < K, N % 4 == 0);
        F4(&Bs[brow][bcol]) = vb;
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; kk++) {
            float4 x = F4(&As[kk][tr]);
            float4 y = F4(&Bs[kk][tc]);
            float xs[4] = {x.x, x.y, x.z, x.w};
            float ys[4] = {y.x, y.y, y.z, y.w};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    acc[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        int r = row0 + tr + i, c = col0 + tc;
        if (r >= M || c >= N) continue;
        float *dst = C + r * N + c;
        if (N % 4 == 0) {
            F4(dst) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        } else {
            for (int j = 0; j < 4 && c + j < N; j++)
                dst[j] = acc[i][j];
        }
    }
}

void solve(const float *A, const float *B, float *C, int M, int K, int N)
{
    dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);
    sgemmVec<<<grid, 256>>>(A, B, C, M, K, N);
}
