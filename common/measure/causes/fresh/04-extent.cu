#include <cuda_runtime.h>

struct Extent {
  int j, k, l;
};

#define EDGE 32
#define ROUNDS(n) (((n) + EDGE - 1) / EDGE)

__global__ void general(const float *m, const float *n, float *p, Extent e)
{
    __shared__ float tm[EDGE][EDGE];
    __shared__ float tn[EDGE][EDGE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int gy = EDGE * blockIdx.y + y;
    const int gx = EDGE * blockIdx.x + x;
    float s = 0;

    for (int from = 0; from < e.k; from += EDGE) {
        int mx = from + x;
        int ny = from + y;
        tm[y][x] = 0;
        tn[y][x] = 0;
        if (gy < e.j && mx < e.k)
            tm[y][x] = m[(size_t)gy * e.k + mx];
        if (ny < e.k && gx < e.l)
            tn[y][x] = n[(size_t)ny * e.l + gx];
        __syncthreads();
        int last = min(EDGE, e.k - from);
        for (int i = 0; i < last; ++i)
            s += tm[y][i] * tn[i][x];
        __syncthreads();
    }
    if (gy < e.j && gx < e.l)
        p[(size_t)gy * e.l + gx] = s;
}

void solve(const float *m, const float *n, float *p, int j, int k, int l)
{
    Extent e;
    e.j = j;
    e.k = k;
    e.l = l;
    dim3 block(EDGE, EDGE);
    dim3 grid(ROUNDS(l), ROUNDS(j));
    general<<<grid, block>>>(m, n, p, e);
}
