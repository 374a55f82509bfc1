#include <cuda_runtime.h>

#include <cstddef>

template <int SIDE>
struct Pair {
  float left[SIDE][SIDE];
  float right[SIDE][SIDE];
};

template <int SIDE>
__device__ void fetch(float (&to)[SIDE][SIDE], const float* from, std::size_t pitch) {
  to[threadIdx.y][threadIdx.x] = from[threadIdx.y * pitch + threadIdx.x];
}

template <int SIDE>
__device__ float partial(const float (&x)[SIDE][SIDE], const float (&y)[SIDE][SIDE]) {
  float sum = 0.0f;
#pragma unroll
  for (int q = 0; q < SIDE; ++q) sum += x[threadIdx.y][q] * y[q][threadIdx.x];
  return sum;
}

template <int SIDE = 16>
__global__ void tiledProduct(const float* left, const float* right, float* result, std::size_t n) {
  __shared__ Pair<SIDE> tiles;
  // where this block's first tiles begin
  const float* l = left + blockIdx.y * SIDE * n;
  const float* r = right + blockIdx.x * SIDE;
  const float* const end = l + n;
  float sum = 0.0f;
  for (; l != end; l += SIDE, r += SIDE * n) {
    fetch(tiles.left, l, n);
    fetch(tiles.right, r, n);
    __syncthreads();
    sum += partial(tiles.left, tiles.right);
    __syncthreads();
  }
  float* out = result + (blockIdx.y * SIDE + threadIdx.y) * n;
  out[blockIdx.x * SIDE + threadIdx.x] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int side = 16;
  const unsigned count = width / side;
  tiledProduct<side><<<dim3{count, count}, dim3{side, side}>>>(M, N, P, width);
}
