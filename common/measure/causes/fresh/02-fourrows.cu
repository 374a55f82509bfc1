#include "check.h"

#define TS 32
#define RPT 8 /* rows of threads */
#define LOOP(v) for (int v = 0; v < TS; v += RPT)

// 32 x 8 threads work on tiles of 32 x 32: four rows each, eight apart.
__global__ void four_rows(const float *M, const float *N, float *P, const int size)
{
    __shared__ float m_s[TS][TS];
    __shared__ float n_s[TS][TS];
    const int i = threadIdx.y, j = threadIdx.x;
    const int bi = blockIdx.y * TS, bj = blockIdx.x * TS;
    float part[TS / RPT] = {0, 0, 0, 0};
    int t = size / TS;

    M += (bi + i) * size + j;
    N += i * size + bj + j;
    while (t-- > 0) {
        LOOP(o) {
            m_s[i + o][j] = M[o * size];
            n_s[i + o][j] = N[o * size];
        }
        M += TS;
        N += TS * size;
        __syncthreads();
        for (int k = 0; k < TS; k++) {
            const float right = n_s[k][j];
            LOOP(o) part[o / RPT] += m_s[i + o][k] * right;
        }
        __syncthreads();
    }
    LOOP(o) P[(bi + i + o) * size + bj + j] = part[o / RPT];
}

void solve(const float *M, const float *N, float *P, int width)
{
    dim3 block = dim3(TS, RPT);
    dim3 grid = dim3(width / TS, width / TS);
    four_rows<<<grid, block>>>(M, N, P, width);
    CHECK(cudaGetLastError());
}
