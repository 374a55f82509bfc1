#include "copy_async.h"

// sizes of what works together
namespace crew {
enum : int { BLOCK_ROWS = 128, BLOCK_COLS = 128, WARP_ROWS = 64, WARP_COLS = 32, DEPTH = 16, COUNT = 256 };
constexpr int M_PITCH = DEPTH + 4;
constexpr int OUT_PITCH = WARP_COLS + 16;
}  // namespace crew

struct Post {
  int row, col;
};

// Where the warp's tile begins within the block's.
__device__ Post warp_post(int warp) {
  using namespace crew;
  return {(warp >> 2) * WARP_ROWS, (warp & 3) * WARP_COLS};
}

// Where the lane stands among the 8 x 4 of its warp.
__device__ Post lane_post(unsigned lane) {
  Post post;
  post.row = (lane >> 1 & 1) | (lane >> 2 & 6);
  post.col = (lane & 1) | (lane >> 1 & 2);
  return post;
}

#define QUAD(address) (*reinterpret_cast<float4*>(address))

__device__ void bring(float* to, const float* A, int rows, int cols, int r, int c) {
  const float* from = A + size_t(r) * cols + c;
  if ((cols & 3) == 0) {
    const bool there = r < rows && c < cols;
    copy_async<16>(to, there ? from : A, there);
  } else {
    for (int i = 0; i != 4; ++i) {
      const bool there = r < rows && c + i < cols;
      copy_async<4>(to + i, there ? from + i : A, there);
    }
  }
}

__global__ void __launch_bounds__(crew::COUNT, 2) crew_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  using namespace crew;
  __shared__ __align__(16) float ms[2 * BLOCK_ROWS * M_PITCH];
  __shared__ __align__(16) float ns[2 * DEPTH * BLOCK_COLS];
  __shared__ __align__(16) float out[8 * 8 * OUT_PITCH];

  const int me = threadIdx.x;
  const int warp = me >> 5, lane = me & 31;
  const Post block = {int(blockIdx.y) * BLOCK_ROWS, int(blockIdx.x) * BLOCK_COLS};
  const Post w = warp_post(warp), p = lane_post(lane);

  float sum[8][8] = {};

  auto m_at = [&](int stage, int r, int i) { return ms + (stage * BLOCK_ROWS + r) * M_PITCH + i; };
  auto n_at = [&](int stage, int i, int c) { return ns + (stage * DEPTH + i) * BLOCK_COLS + c; };
  auto fetch = [&](int phase) {
    const int stage = phase & 1, first = phase * DEPTH;
    for (int q = me; q < BLOCK_ROWS * DEPTH / 4; q += COUNT) {
      const int r = q >> 2, i = (q & 3) << 2;
      bring(m_at(stage, r, i), M, j, k, block.row + r, first + i);
    }
    for (int q = me; q < DEPTH * BLOCK_COLS / 4; q += COUNT) {
      const int i = q >> 5, c = (q & 31) << 2;
      bring(n_at(stage, i, c), N, k, l, first + i, block.col + c);
    }
    __pipeline_commit();
  };

  const int phases = (k + DEPTH - 1) / DEPTH;
  fetch(0);
  for (int phase = 0; phase < phases; ++phase) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (phase + 1 < phases) fetch(phase + 1);
    const int stage = phase & 1;
    for (int i = 0; i < DEPTH; i += 4) {
      __align__(16) float a[8][4], b[8];
      for (int r = 0; r < 8; ++r) QUAD(a[r]) = QUAD(m_at(stage, w.row + p.row + 8 * r, i));
      for (int s = 0; s < 4; ++s) {
        for (int h = 0; h < 2; ++h) QUAD(b + 4 * h) = QUAD(n_at(stage, i + s, w.col + 4 * p.col + 16 * h));
        for (int e = 0; e < 64; ++e) sum[e / 8][e % 8] += a[e / 8][s] * b[e % 8];
      }
    }
  }

  float* const mine = out + warp * 8 * OUT_PITCH;
  for (int r = 0; r < 8; ++r) {
    for (int h = 0; h < 2; ++h) QUAD(mine + p.row * OUT_PITCH + 4 * p.col + 16 * h) = QUAD(&sum[r][4 * h]);
    __syncwarp();
    const int col = block.col + w.col + lane;
    for (int s = 0; s < 8; ++s) {
      const int row = block.row + w.row + 8 * r + s;
      if (row < j && col < l) P[size_t(row) * l + col] = mine[s * OUT_PITCH + lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  using namespace crew;
  auto up = [](int n, int d) { return (n + d - 1) / d; };
  crew_kernel<<<dim3(up(l, BLOCK_COLS), up(j, BLOCK_ROWS)), COUNT>>>(M, N, P, j, k, l);
}
