// Lab 02. Tiles of 32, two stages: fill one pair of tiles while the other is used. That way there
// is one barrier per turn. (embedded habits: ping and pong)
#include "check.h"

template <int SIDE>
struct Pair {
  float left[SIDE][SIDE];
  float right[SIDE][SIDE];
};

template <int SIDE>
__device__ void fetch(Pair<SIDE>& p, const float* src_l, const float* src_r) {
  p.left[threadIdx.y][threadIdx.x] = *src_l;
  p.right[threadIdx.y][threadIdx.x] = *src_r;
}

template <int SIDE>
__global__ void pingpong(const float* M, const float* N, float* P, int width) {
  __shared__ Pair<SIDE> buf[2];
  const int y = blockIdx.y * SIDE + threadIdx.y;
  const int x = blockIdx.x * SIDE + threadIdx.x;

  const float* l = M + y * width + threadIdx.x;       // walks to the right
  const float* r = N + threadIdx.y * width + x;       // walks down
  int now = 0;
  int left_over = width / SIDE;
  float s = 0;

  fetch(buf[now], l, r);
  while (left_over-- > 0) {
    __syncthreads();
    if (left_over > 0) {
      l += SIDE;
      r += SIDE * width;
      fetch(buf[now ^ 1], l, r);
    }
    const Pair<SIDE>& p = buf[now];
    for (int t = 0; t < SIDE; ++t) s += p.left[threadIdx.y][t] * p.right[t][threadIdx.x];
    now ^= 1;
  }
  P[y * width + x] = s;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int side = 32;
  const dim3 threads(side, side);
  const dim3 blocks(width / side, width / side);
  pingpong<side><<<blocks, threads>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
