#include <cuda_runtime.h>

#define FLOAT4(p) (*reinterpret_cast<float4 *>(&(p)))
#define CFLOAT4(p) (*reinterpret_cast<const float4 *>(&(p)))

const int BS = 64, KS = 16, PER = 4;

struct Quad {
    float v[4];
};

// four neighbours of a row, 0 where there is none
__device__ Quad fetch(const float *base, int row, int col, int rows, int cols)
{
    Quad q = {{0, 0, 0, 0}};
    if (row >= rows || col >= cols)
        return q;
    const float *from = base + (long)row * cols + col;
    if ((cols & 3) == 0) {
        FLOAT4(q.v[0]) = CFLOAT4(*from);
        return q;
    }
    const int n = min(4, cols - col);
    for (int i = 0; i < n; i++)
        q.v[i] = from[i];
    return q;
}

__global__ void vectorised(const float *A, const float *B, float *C, int J, int K, int L)
{
    __shared__ __align__(16) float As[BS * KS];
    __shared__ __align__(16) float Bs[KS * BS];
    const int t = threadIdx.x;
    const int ty = t / 16, tx = t % 16;
    const int ar = t / 4, ac = t % 4 * 4;
    const int br = t / 16, bc = t % 16 * 4;
    const int row0 = blockIdx.y * BS, col0 = blockIdx.x * BS;
    __align__(16) float acc[PER][PER] = {};

    for (int kk = 0; kk < K; kk += KS) {
        Quad qa = fetch(A, row0 + ar, kk + ac, J, K);
        Quad qb = fetch(B, kk + br, col0 + bc, K, L);
        FLOAT4(As[ar * KS + ac]) = FLOAT4(qa.v[0]);
        FLOAT4(Bs[br * BS + bc]) = FLOAT4(qb.v[0]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KS; k += 4) {
            float4 m[PER], n[4];
#pragma unroll
            for (int i = 0; i < PER; i++)
                m[i] = FLOAT4(As[(ty + 16 * i) * KS + k]);
#pragma unroll
            for (int i = 0; i < 4; i++)
                n[i] = FLOAT4(Bs[(k + i) * BS + tx * 4]);
#pragma unroll
            for (int i = 0; i < PER; i++) {
                acc[i][0] += m[i].x * n[0].x + m[i].y * n[1].x + m[i].z * n[2].x + m[i].w * n[3].x;
                acc[i][1] += m[i].x * n[0].y + m[i].y * n[1].y + m[i].z * n[2].y + m[i].w * n[3].y;
                acc[i][2] += m[i].x * n[0].z + m[i].y * n[1].z + m[i].z * n[2].z + m[i].w * n[3].z;
                acc[i][3] += m[i].x * n[0].w + m[i].y * n[1].w + m[i].z * n[2].w + m[i].w * n[3].w;
            }
        }
        __syncthreads();
    }

    const int col = col0 + tx * 4;
    for (int i = 0; i < PER; i++) {
        const int row = row0 + ty + 16 * i;
        if (row >= J || col >= L)
            continue;
        float *to = C + (long)row * L + col;
        if ((L & 3) == 0)
            FLOAT4(*to) = FLOAT4(acc[i][0]);
        else
            for (int c = 0; c < 4 && col + c < L; c++)
                to[c] = acc[i][c];
    }
}

void solve(const float *A, const float *B, float *C, int j, int k, int l)
{
    vectorised<<<dim3((l + BS - 1) / BS, (j + BS - 1) / BS), 256>>>(A, B, C, j, k, l);
}
