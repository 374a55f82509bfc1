/* lab 2, plain C: pointers that walk from tile to tile */
#include "check.h"

#define T 16

__global__ void tmm(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[T * T], tb[T * T];
    const int t = threadIdx.x;          /* 0..255 */
    const int x = t % T, y = t / T;
    const int y0 = blockIdx.y * T;
    const int x0 = blockIdx.x * T;
    const float *pa = a + (y0 + y) * n + x;
    const float *pb = b + y * n + x0 + x;
    const float *end = a + (y0 + y) * n + n;
    float s = 0;

    while (pa < end) {
        const float *u, *v;
        int cnt = T;
        ta[t] = *pa;
        tb[t] = *pb;
        __syncthreads();
        u = ta + y * T;
        v = tb + x;
        do {
            s += *u * *v;
            u++;
            v += T;
        } while (--cnt);
        pa += T;
        pb += T * n;
        __syncthreads();
    }
    c[(y0 + y) * n + x0 + x] = s;
}

void solve(const float *M, const float *N, float *P, int width)
{
    dim3 g;
    int per_side = width / T;
    g.x = per_side;
    g.y = per_side;
    g.z = 1;
    tmm<<<g, T * T>>>(M, N, P, width);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess)
        printf("kernel launch: %s\n", cudaGetErrorString(e));
}
