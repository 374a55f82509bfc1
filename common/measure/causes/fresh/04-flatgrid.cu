#include <cuda_runtime.h>

// Blocks of one dimension, and a grid of one dimension: tile number -> row and column of tiles.
template <typename T, int B>
__global__ void multiplyFlat(const T* __restrict__ x, const T* __restrict__ y, T* __restrict__ z,
                             size_t J, size_t K, size_t L) {
  __shared__ T xs[B * B];
  __shared__ T ys[B * B];
  const size_t across = (L + B - 1) / B;
  const size_t down = (J + B - 1) / B;
  const size_t i = threadIdx.x / B, j = threadIdx.x % B;
  for (size_t tile = blockIdx.x; tile < across * down; tile += gridDim.x) {
    const size_t row = tile / across * B + i;
    const size_t col = tile % across * B + j;
    T acc{};
    for (size_t k0 = 0; k0 < K; k0 += B) {
      xs[threadIdx.x] = (row < J && k0 + j < K) ? x[row * K + k0 + j] : T(0);
      ys[threadIdx.x] = (k0 + i < K && col < L) ? y[(k0 + i) * L + col] : T(0);
      __syncthreads();
      for (size_t k = 0; k < B; ++k) acc += xs[i * B + k] * ys[k * B + j];
      __syncthreads();
    }
    if (row < J && col < L) z[row * L + col] = acc;
  }
}

namespace {
constexpr int kTile = 16;
size_t tilesFor(size_t length) { return (length + kTile - 1) / kTile; }
}  // namespace

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const size_t tiles = tilesFor(j) * tilesFor(l);
  const unsigned grid = tiles < 4096 ? tiles : 4096;
  multiplyFlat<float, kTile><<<grid, kTile * kTile>>>(M, N, P, j, k, l);
}
