#include <cuda_runtime.h>

#define TW 16
#define CEIL(a, b) (((a) + (b) - 1) / (b))

typedef struct {
    int height, width, stride;
    const float *data;
} View;

__device__ float get(const View v, int row, int col)
{
    return row < v.height && col < v.width ? v.data[row * v.stride + col] : 0.0f;
}

// the TW x TW part of v that begins at (row, col)
__device__ View part(const View v, int row, int col)
{
    View s;
    s.height = v.height - row;
    s.width = v.width - col;
    s.stride = v.stride;
    s.data = v.data + row * v.stride + col;
    return s;
}

__global__ void product(View a, View b, float *c)
{
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int by = blockIdx.y * TW, bx = blockIdx.x * TW;
    float cell = 0.0f;

    for (int step = 0; step < CEIL(a.width, TW); ++step) {
        const View pa = part(a, by, step * TW);
        const View pb = part(b, step * TW, bx);
        __shared__ float as[TW][TW];
        __shared__ float bs[TW][TW];
        as[ty][tx] = get(pa, ty, tx);
        bs[ty][tx] = get(pb, ty, tx);
        __syncthreads();
        for (int i = 0; i < TW; ++i)
            cell += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (by + ty >= a.height)
        return;
    if (bx + tx >= b.width)
        return;
    c[(by + ty) * b.width + bx + tx] = cell;
}

static View view_of(const float *data, int height, int width)
{
    View v = {height, width, width, data};
    return v;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    View m = view_of(M, j, k), n = view_of(N, k, l);
    dim3 grid(CEIL(l, TW), CEIL(j, TW));
    dim3 block(TW, TW);
    product<<<grid, block>>>(m, n, P);
}
