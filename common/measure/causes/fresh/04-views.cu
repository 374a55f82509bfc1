#include <cuda_runtime.h>

struct View {
    const float* data;
    int rows, cols;
    __device__ float at(int r, int c) const
    {
        return r < rows && c < cols ? data[(size_t)r * cols + c] : 0.0f;
    }
};

constexpr int TS = 16;

__global__ void product(View a, View b, float* c)
{
    __shared__ float ta[TS][TS];
    __shared__ float tb[TS][TS];
    const int r = blockIdx.y * TS + threadIdx.y;
    const int s = blockIdx.x * TS + threadIdx.x;
    float v = 0.0f;
    for (int base = 0; base < a.cols; base += TS) {
        ta[threadIdx.y][threadIdx.x] = a.at(r, base + threadIdx.x);
        tb[threadIdx.y][threadIdx.x] = b.at(base + threadIdx.y, s);
        __syncthreads();
        for (int t = 0; t < TS; t++)
            v = fmaf(ta[threadIdx.y][t], tb[t][threadIdx.x], v);
        __syncthreads();
    }
    if (r < a.rows && s < b.cols)
        c[(size_t)r * b.cols + s] = v;
}

void solve(const float* a, const float* b, float* c, int m, int n, int p)
{
    View va = {a, m, n};
    View vb = {b, n, p};
    dim3 block(TS, TS);
    dim3 grid((p - 1) / TS + 1, (m - 1) / TS + 1);
    product<<<grid, block>>>(va, vb, c);
}
