#include <cuda_runtime.h>

template <size_t TILE>
__global__ void matmul(float const* __restrict__ mat_1, float const* __restrict__ mat_2,
                       float* __restrict__ mat_3, size_t n)
{
    __shared__ float tile_1[TILE][TILE];
    __shared__ float tile_2[TILE][TILE];

    size_t const i{blockIdx.y * TILE + threadIdx.y};
    size_t const j{blockIdx.x * TILE + threadIdx.x};
    float acc_sum{0};

    for (size_t tile_idx{n / TILE}; tile_idx > 0; --tile_idx)
    {
        size_t const k0{(tile_idx - 1) * TILE};
        tile_1[threadIdx.y][threadIdx.x] = mat_1[i * n + k0 + threadIdx.x];
        tile_2[threadIdx.y][threadIdx.x] = mat_2[(k0 + threadIdx.y) * n + j];
        __syncthreads();
        for (size_t k_idx{TILE}; k_idx > 0; --k_idx)
        {
            acc_sum += tile_1[threadIdx.y][k_idx - 1] * tile_2[k_idx - 1][threadIdx.x];
        }
        __syncthreads();
    }
    mat_3[i * n + j] = acc_sum;
}

void solve(float const* mat_1, float const* mat_2, float* mat_3, int n)
{
    constexpr size_t TILE{16};
    dim3 const threads_per_block(TILE, TILE);
    dim3 blocks_per_grid(1, 1);
    blocks_per_grid.x = n / TILE;
    blocks_per_grid.y = n / TILE;
    matmul<TILE><<<blocks_per_grid, threads_per_block>>>(mat_1, mat_2, mat_3, n);
}
