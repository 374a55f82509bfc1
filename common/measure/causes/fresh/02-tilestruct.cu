#include "check.h"

template <int D>
struct Tile {
  float cell[D * D];
  __device__ void take(const float* from, int pitch) {
    cell[threadIdx.y * D + threadIdx.x] = from[threadIdx.y * pitch + threadIdx.x];
  }
  __device__ float row(int i) const { return cell[threadIdx.y * D + i]; }
  __device__ float col(int i) const { return cell[i * D + threadIdx.x]; }
};

template <int D>
__device__ const float* corner(const float* whole, int pitch, int tile_row, int tile_col) {
  return whole + tile_row * D * pitch + tile_col * D;
}

template <int D>
__global__ void product(const float* M, const float* N, float* P, int width) {
  __shared__ Tile<D> m, n;
  float sum = 0;
  for (int t = 0; t < width / D; t++) {
    m.take(corner<D>(M, width, blockIdx.y, t), width);
    n.take(corner<D>(N, width, t, blockIdx.x), width);
    __syncthreads();
    for (int i = 0; i < D; i++) sum += m.row(i) * n.col(i);
    __syncthreads();
  }
  P[(blockIdx.y * D + threadIdx.y) * width + blockIdx.x * D + threadIdx.x] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int side = 8;
  dim3 grid(width / side, width / side), block(side, side);
  product<side><<<grid, block>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
