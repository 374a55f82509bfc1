#include <cuda_runtime.h>

template <int S>
class TilePair {
 public:
  __device__ void fill(const float* m, const float* n, int base, int w) {
    const int y = blockIdx.y * S + threadIdx.y, x = blockIdx.x * S + threadIdx.x;
    const int mx = base + threadIdx.x, ny = base + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = y < w && mx < w ? m[y * w + mx] : 0.f;
    right[threadIdx.y][threadIdx.x] = ny < w && x < w ? n[ny * w + x] : 0.f;
  }
  __device__ float dot() const {
    float d = 0.f;
#pragma unroll
    for (int i = 0; i < S; ++i) d = fmaf(left[threadIdx.y][i], right[i][threadIdx.x], d);
    return d;
  }
  __device__ static void ready() { __syncthreads(); }

 private:
  float left[S][S];
  float right[S][S];
};

template <int S>
__global__ void mulTiles(const float* m, const float* n, float* p, int w) {
  __shared__ TilePair<S> pair;
  float total = 0.f;
  int base = 0;
  while (true) {
    if (base >= w) break;
    pair.fill(m, n, base, w);
    pair.ready();
    total += pair.dot();
    pair.ready();
    base += S;
  }
  const int y = blockIdx.y * S + threadIdx.y, x = blockIdx.x * S + threadIdx.x;
  if (y < w && x < w) p[y * w + x] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int side = 16;
  const dim3 grid((width + side - 1) / side, (width + side - 1) / side);
  const dim3 block(side, side);
  mulTiles<side><<<grid, block>>>(M, N, P, width);
}
