/* M is turned first by a kernel of its own; helpers take the block as a dim3 */
#include "check.h"

enum { SIDE = 16 };

__global__ void flip(const float *from, float *to, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns)
        to[(size_t)c * rows + r] = from[(size_t)r * columns + c];
}

__global__ void columns_by_columns(const float *mt, const float *n, float *p, int j, int k, int l)
{
    __shared__ float u[SIDE][SIDE], v[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    float s = 0;
    for (int z = 0; z < k; z += SIDE) {
        u[y][x] = z + y < k && top + x < j ? mt[(size_t)(z + y) * j + top + x] : 0;
        v[y][x] = z + y < k && left + x < l ? n[(size_t)(z + y) * l + left + x] : 0;
        __syncthreads();
        for (int i = 0; i < SIDE; i++)
            s += u[i][y] * v[i][x];
        __syncthreads();
    }
    if (top + y < j && left + x < l)
        p[(size_t)(top + y) * l + left + x] = s;
}

static dim3 cover(dim3 block, int across, int down)
{
    return dim3((across + block.x - 1) / block.x, (down + block.y - 1) / block.y);
}

static void turn(const float *from, float *to, int rows, int columns, dim3 block)
{
    flip<<<cover(block, columns, rows), block>>>(from, to, rows, columns);
    CHECK(cudaGetLastError());
}

static void multiply(const float *mt, const float *n, float *p, int j, int k, int l, dim3 block)
{
    columns_by_columns<<<cover(block, l, j), block>>>(mt, n, p, j, k, l);
    CHECK(cudaGetLastError());
}

void solve(const float *M, const float *N, float *P, int j, int k, int l)
{
    float *mt;
    CHECK(cudaMalloc((void **)&mt, (size_t)k * j * sizeof *mt));
    turn(M, mt, j, k, dim3(32, 8));
    multiply(mt, N, P, j, k, l, dim3(SIDE, SIDE));
    CHECK(cudaFree(mt));
}
