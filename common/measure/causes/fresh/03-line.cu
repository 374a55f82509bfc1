#include <cuda_runtime.h>
#define LOG_T 4
#define T (1 << LOG_T)

__global__ void lineOfThreads(const float *x, const float *y, float *z, int n)
{
    __shared__ float xs[T * T];
    __shared__ float ys[T * T];
    int id = threadIdx.x;
    int u = id & (T - 1);
    int v = id >> LOG_T;
    int row = (blockIdx.y << LOG_T) + v;
    int col = (blockIdx.x << LOG_T) + u;
    float total = 0.0f;
    int done = 0;
    while (done < n) {
        xs[id] = 0.0f;
        ys[id] = 0.0f;
        if (row < n && done + u < n)
            xs[id] = x[row * n + done + u];
        if (col < n && done + v < n)
            ys[id] = y[(done + v) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++)
            total += xs[v * T + k] * ys[k * T + u];
        __syncthreads();
        done += T;
    }
    if (row < n && col < n)
        z[row * n + col] = total;
}

void solve(const float *x, const float *y, float *z, int n)
{
    unsigned int b = (n + T - 1) >> LOG_T;
    dim3 grid(b, b);
    lineOfThreads<<<grid, T * T>>>(x, y, z, n);
}
