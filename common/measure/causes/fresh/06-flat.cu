#include <cuda_runtime.h>

#define BR 64
#define BC 64
#define BD 16
#define PAD 2
#define LDA (BR + PAD)
#define LDB BC
#define NT 256
#define SA(d, r) shA[(d) * LDA + (r)]
#define SB(d, c) shB[(d) * LDB + (c)]

__global__ void padded(const float *A, const float *B, float *C, int nr, int nd, int nc)
{
    __shared__ float shA[BD * LDA];
    __shared__ float shB[BD * LDB];
    const int t = threadIdx.x;
    const int ti = t >> 4;
    const int tj = t & 15;
    const int i0 = blockIdx.y * BR;
    const int j0 = blockIdx.x * BC;
    float reg[4][4];
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++)
            reg[p][q] = 0.0f;

    for (int d0 = 0; d0 < nd; d0 += BD) {
        for (int step = 0; step < 4; step++) {
            int r = step * 16 + ti;
            int d = tj;
            float v = 0.0f;
            if (i0 + r < nr && d0 + d < nd)
                v = A[(i0 + r) * nd + d0 + d];
            SA(d, r) = v;
        }
        for (int step = 0; step < 4; step++) {
            int d = step * 4 + (t >> 6);
            int c = t & 63;
            float v = 0.0f;
            if (d0 + d < nd && j0 + c < nc)
                v = B[(d0 + d) * nc + j0 + c];
            SB(d, c) = v;
        }
        __syncthreads();
        for (int d = 0; d < BD; d++) {
            float x0 = SA(d, ti * 4), x1 = SA(d, ti * 4 + 1);
            float x2 = SA(d, ti * 4 + 2), x3 = SA(d, ti * 4 + 3);
            for (int q = 0; q < 4; q++) {
                float y = SB(d, tj + 16 * q);
                reg[0][q] += x0 * y;
                reg[1][q] += x1 * y;
                reg[2][q] += x2 * y;
                reg[3][q] += x3 * y;
            }
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++) {
        int i = i0 + ti * 4 + p;
        if (i >= nr)
            break;
        for (int q = 0; q < 4; q++) {
            int j = j0 + tj + 16 * q;
            if (j < nc)
                C[i * nc + j] = reg[p][q];
        }
    }
}

void solve(const float *A, const float *B, float *C, int nr, int nd, int nc)
{
    dim3 g((nc + BC - 1) / BC, (nr + BR - 1) / BR);
    padded<<<g, NT>>>(A, B, C, nr, nd, nc);
}
