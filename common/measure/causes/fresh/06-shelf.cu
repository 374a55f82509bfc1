#include <cuda_runtime.h>

// A shelf is a tile whose rows lie one word more than their length apart.
template <int H, int W, int GAP>
struct Shelf {
  float word[H * (W + GAP)];
  __device__ float& operator()(int h, int w) { return word[h * (W + GAP) + w]; }
};

struct Shape {
  int j, k, l;
};

constexpr int SIDE = 64, STEP = 16, PER = 4, TEAM = SIDE / PER;
using Left = Shelf<STEP, SIDE, 2>;
using Right = Shelf<STEP, SIDE, 0>;

// Fills both shelves for the step that begins at `z`.
__device__ void stock(Left& left, Right& right, const float* m, const float* n, Shape s, int z) {
  const int me = threadIdx.y * TEAM + threadIdx.x;
  const int top = blockIdx.y * SIDE, side = blockIdx.x * SIDE;
  for (int turn = 0; turn < SIDE * STEP; turn += TEAM * TEAM) {
    const int one = turn + me;
    int h = one / STEP, w = one % STEP;
    left(w, h) = top + h < s.j && z + w < s.k ? m[(top + h) * s.k + z + w] : 0.0f;
    h = one / SIDE, w = one % SIDE;
    right(h, w) = z + h < s.k && side + w < s.l ? n[(z + h) * s.l + side + w] : 0.0f;
  }
}

__global__ void shelves(const float* m, const float* n, float* p, Shape s) {
  __shared__ Left left;
  __shared__ Right right;
  float sum[PER][PER];
  for (int a = 0; a < PER; ++a)
    for (int b = 0; b < PER; ++b) sum[a][b] = 0.0f;

  const int steps = (s.k + STEP - 1) / STEP;
  for (int step = 0; step < steps; ++step) {
    stock(left, right, m, n, s, step * STEP);
    __syncthreads();
    for (int d = 0; d < STEP; ++d) {
      float u[PER], v[PER];
      for (int a = 0; a < PER; ++a) {
        u[a] = left(d, threadIdx.y * PER + a);
        v[a] = right(d, threadIdx.x + a * TEAM);
      }
      for (int a = 0; a < PER; ++a)
        for (int b = 0; b < PER; ++b) sum[a][b] += u[a] * v[b];
    }
    __syncthreads();
  }

  for (int a = 0; a < PER; ++a) {
    const int r = blockIdx.y * SIDE + threadIdx.y * PER + a;
    for (int b = 0; b < PER; ++b) {
      const int c = blockIdx.x * SIDE + threadIdx.x + b * TEAM;
      if (r < s.j && c < s.l) p[r * s.l + c] = sum[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Shape s = {j, k, l};
  dim3 team(TEAM, TEAM), halls;
  halls.x = (s.l + SIDE - 1) / SIDE;
  halls.y = (s.j + SIDE - 1) / SIDE;
  shelves<<<halls, team>>>(M, N, P, s);
}
