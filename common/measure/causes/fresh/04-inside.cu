#include <cuda_runtime.h>

enum { EDGE = 16 };

__device__ bool inside(int r, int c, int rows, int cols)
{
    return r < rows && c < cols;
}

__global__ void general(const float A[], const float B[], float C[], const int ha, const int wa, const int wb)
{
    __shared__ float ta[EDGE][EDGE], tb[EDGE][EDGE];
    const int i = threadIdx.y, j = threadIdx.x;
    const int gi = blockIdx.y * EDGE + i, gj = blockIdx.x * EDGE + j;
    float e = 0.0f;
    for (int phase = 0; phase * EDGE < wa; ++phase) {
        const int aj = phase * EDGE + j;
        const int bi = phase * EDGE + i;
        float va = 0.0f, vb = 0.0f;
        if (inside(gi, aj, ha, wa))
            va = A[gi * wa + aj];
        if (inside(bi, gj, wa, wb))
            vb = B[bi * wb + gj];
        ta[i][j] = va;
        tb[j][i] = vb;
        __syncthreads();
        for (int t = 0; t < EDGE; ++t)
            e += ta[i][t] * tb[j][t];
        __syncthreads();
    }
    if (inside(gi, gj, ha, wb))
        C[gi * wb + gj] = e;
}

void solve(const float* A, const float* B, float* C, int j, int k, int l)
{
    const unsigned gx = (l + EDGE - 1) / EDGE;
    const unsigned gy = (j + EDGE - 1) / EDGE;
    general<<<dim3(gx, gy), dim3(EDGE, EDGE)>>>(A, B, C, j, k, l);
}
