#include <cuda_runtime.h>
#define ROWS 64
#define COLS 64
#define DEEP 16

__device__ void get4(float *dst, const float *mat, int r, int c, int nr, int nc)
{
    if (r < nr && c + 3 < nc && nc % 4 == 0) {
        float4 t = *reinterpret_cast<const float4 *>(&mat[r * nc + c]);
        dst[0] = t.x;
        dst[1] = t.y;
        dst[2] = t.z;
        dst[3] = t.w;
        return;
    }
    for (int i = 0; i < 4; ++i)
        dst[i] = (r < nr && c + i < nc) ? mat[r * nc + c + i] : 0.0f;
}

__global__ void vec(const float *A, const float *B, float *C, int h, int d, int w)
{
    __shared__ __align__(16) float sA[ROWS * DEEP];
    __shared__ __align__(16) float sB[DEEP * COLS];
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    const int baseR = blockIdx.y * ROWS, baseC = blockIdx.x * COLS;
    float4 acc[4];
    for (int i = 0; i < 4; ++i)
        acc[i] = make_float4(0, 0, 0, 0);
    for (int p = 0; p < d; p += DEEP) {
        int e = t * 4;
        get4(&sA[e], A, baseR + e / DEEP, p + e % DEEP, h, d);
        get4(&sB[e], B, p + e / COLS, baseC + e % COLS, d, w);
        __syncthreads();
        for (int q = 0; q < DEEP; ++q) {
            float4 b4 = *(float4 *)&sB[q * COLS + threadIdx.x * 4];
            for (int i = 0; i < 4; ++i) {
                float a1 = sA[(threadIdx.y * 4 + i) * DEEP + q];
                acc[i].x += a1 * b4.x;
                acc[i].y += a1 * b4.y;
                acc[i].z += a1 * b4.z;
                acc[i].w += a1 * b4.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        int r = baseR + threadIdx.y * 4 + i;
        int c = baseC + threadIdx.x * 4;
        if (r >= h) break;
        if (c + 3 < w && w % 4 == 0) {
            *reinterpret_cast<float4 *>(&C[r * w + c]) = acc[i];
        } else {
            if (c < w) C[r * w + c] = acc[i].x;
            if (c + 1 < w) C[r * w + c + 1] = acc[i].y;
            if (c + 2 < w) C[r * w + c + 2] = acc[i].z;
            if (c + 3 < w) C[r * w + c + 3] = acc[i].w;
        }
    }
}

void solve(const float *A, const float *B, float *C, int h, int d, int w)
{
    dim3 blocks((w + COLS - 1) / COLS, (h + ROWS - 1) / ROWS);
    dim3 threads(COLS / 4, ROWS / 4);
    vec<<<blocks, threads>>>(A, B, C, h, d, w);
}
