// Levels: block 128x128, warp 64x32, lane 8x8.
#include "check.h"
#include "copy_async.h"

struct Pos { int row, col; };
struct Size { int rows, cols; };

constexpr Size BLOCK{128, 128}, WARP{64, 32};
constexpr int DEPTH = 16, LD_A = DEPTH + 4, LD_B = 128, LD_OUT = 48;
constexpr int WARPS_X = BLOCK.cols / WARP.cols, WARPS = WARPS_X * (BLOCK.rows / WARP.rows);

// bit b of v
__device__ int bit(int v, int b) { return (v >> b) & 1; }

// where a lane sits among 8 x 4: neighbours by bit 0 share the row, by bit 1 the column
__device__ Pos seat(int lane) {
  return {bit(lane, 1) | bit(lane, 3) << 1 | bit(lane, 4) << 2, bit(lane, 0) | bit(lane, 2) << 1};
}

__device__ float4& quad(float* p) { return *reinterpret_cast<float4*>(p); }

struct Source {
  const float* data;
  Size size;

  __device__ void bring4(float* dst, Pos at) const {
    const float* src = data + size_t(at.row) * size.cols + at.col;
    if (size.cols % 4) {
      for (int x = 0; x < 4; ++x) {
        const bool there = at.row < size.rows && at.col + x < size.cols;
        copy_async<4>(dst + x, there ? src + x : data, there);
      }
    } else {
      const bool there = at.row < size.rows && at.col < size.cols;
      copy_async<16>(dst, there ? src : data, there);
    }
  }
};

__global__ void __launch_bounds__(WARPS * 32, 2)
    seats_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) float A[2][BLOCK.rows * LD_A];
  __shared__ alignas(16) float B[2][DEPTH * LD_B];
  __shared__ alignas(16) float exit_rows[WARPS][8 * LD_OUT];

  const int t = threadIdx.x, w = t >> 5, lane = t & 31;
  const Pos block{int(blockIdx.y) * BLOCK.rows, int(blockIdx.x) * BLOCK.cols};
  const Pos warp{w / WARPS_X * WARP.rows, w % WARPS_X * WARP.cols};
  const Pos me = seat(lane);
  const Source m{M, {j, k}}, n{N, {k, l}};

  auto order = [&](int from, int stage) {
    for (int half = 0; half < 2; ++half) {
      const int ra = t / 4 + 64 * half, ca = t % 4 * 4;
      m.bring4(&A[stage][ra * LD_A + ca], {block.row + ra, from + ca});
      const int rb = t / 32 + 8 * half, cb = lane * 4;
      n.bring4(&B[stage][rb * LD_B + cb], {from + rb, block.col + cb});
    }
    __pipeline_commit();
  };

  alignas(16) float acc[8][8] = {};
  int stage = 0;
  order(0, stage);
  for (int from = 0; from < k; from += DEPTH) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (from + DEPTH < k) order(from + DEPTH, stage ^ 1);

    float* a0 = &A[stage][(warp.row + me.row) * LD_A];
    float* b0 = &B[stage][warp.col + 4 * me.col];
    for (int i = 0; i < DEPTH; i += 4) {
      alignas(16) float a[8][4], b[8];
      for (int r = 0; r < 8; ++r) quad(a[r]) = quad(a0 + 8 * r * LD_A + i);
      for (int s = 0; s < 4; ++s) {
        quad(b) = quad(b0 + (i + s) * LD_B);
        quad(b + 4) = quad(b0 + (i + s) * LD_B + 16);
        for (int e = 0; e < 64; ++e) acc[e / 8][e % 8] += a[e / 8][s] * b[e % 8];
      }
    }
    stage ^= 1;
  }

  float* mine = exit_rows[w];
  const int col = block.col + warp.col + lane;
  for (int r = 0; r < 8; ++r) {
    quad(mine + me.row * LD_OUT + 4 * me.col) = quad(acc[r]);
    quad(mine + me.row * LD_OUT + 4 * me.col + 16) = quad(acc[r] + 4);
    __syncwarp();
    const int first = block.row + warp.row + 8 * r;
    const int rows = min(8, j - first);
    for (int y = 0; y < rows; ++y) {
      if (col < l) P[size_t(first + y) * l + col] = mine[y * LD_OUT + lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = (l + BLOCK.cols - 1) / BLOCK.cols;
  grid.y = (j + BLOCK.rows - 1) / BLOCK.rows;
  seats_kernel<<<grid, WARPS * 32>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
