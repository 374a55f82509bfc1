// Lab 09 with warp tiles of 32 x 64 (4 x 8 lanes).
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int M = 128, N = 128, K = 16;
constexpr int WARP_M = 32, WARP_N = 64;
constexpr int WARPS_X = N / WARP_N;              // 2
constexpr int WARPS = (M / WARP_M) * WARPS_X;    // 8
constexpr int THREADS = 32 * WARPS;
constexpr int STEP_Y = 4;                        // lanes below each other
constexpr int PITCH_M = K + 4;
constexpr int PITCH_OUT = WARP_N + 16;
}  // namespace cfg

struct Where {
  int row, col;  // first element of the warp's tile within the block's tile
  int y, x;      // lane
};

__device__ Where locate(unsigned tid) {
  Where w;
  const unsigned warp = tid >> 5, lane = tid & 31;
  w.row = (warp / cfg::WARPS_X) * cfg::WARP_M;
  w.col = (warp % cfg::WARPS_X) * cfg::WARP_N;
  // lane = b4 b3 b2 b1 b0: x = b3 b2 b0, y = b4 b1
  w.x = (lane & 1) | ((lane >> 1) & 6);
  w.y = ((lane >> 1) & 1) | ((lane >> 3) & 2);
  return w;
}

struct Source {
  const float* ptr;
  int rows, cols;

  // starts four elements on their way to dst
  __device__ void send4(float* dst, int row, int col) const {
    const size_t at = size_t(row) * cols + col;
    if (cols & 3) {
      for (int c = 0; c < 4; ++c) {
        const bool ok = row < rows && col + c < cols;
        copy_async<4>(dst + c, ptr + (ok ? at + c : 0), ok);
      }
    } else {
      const bool ok = row < rows && col < cols;
      copy_async<16>(dst, ptr + (ok ? at : 0), ok);
    }
  }
};

#define VEC(p) (*reinterpret_cast<float4*>(p))

__global__ void __launch_bounds__(cfg::THREADS, 2) warps(Source A, Source B, float* P) {
  __shared__ alignas(16) float ta[2][cfg::M * cfg::PITCH_M];
  __shared__ alignas(16) float tb[2][cfg::K * cfg::N];
  __shared__ alignas(16) float stage_out[cfg::WARPS][cfg::STEP_Y * cfg::PITCH_OUT];

  const int tid = threadIdx.x;
  const int row0 = blockIdx.y * cfg::M, col0 = blockIdx.x * cfg::N;
  const Where me = locate(tid);
  const int depth = A.cols;

  auto request = [&](float* a, float* b, int k0) {
    for (int n = 0; n < 2; ++n) {
      const int r = tid / 4 + n * 64, i = tid % 4 * 4;
      A.send4(a + r * cfg::PITCH_M + i, row0 + r, k0 + i);
    }
    for (int n = 0; n < 2; ++n) {
      const int i = tid / 32 + n * 8, c = tid % 32 * 4;
      B.send4(b + i * cfg::N + c, k0 + i, col0 + c);
    }
    __pipeline_commit();
  };

  alignas(16) float acc[8][8] = {};
  int now = 0;
  request(ta[0], tb[0], 0);
  for (int k0 = 0; k0 < depth; k0 += cfg::K) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (k0 + cfg::K < depth) request(ta[now ^ 1], tb[now ^ 1], k0 + cfg::K);

    float* a = ta[now] + (me.row + me.y) * cfg::PITCH_M;
    float* b = tb[now] + me.col + me.x * 4;
    for (int i = 0; i < cfg::K; i += 4) {
      alignas(16) float av[8][4], bv[8];
      for (int r = 0; r < 8; ++r) VEC(av[r]) = VEC(a + r * cfg::STEP_Y * cfg::PITCH_M + i);
      for (int s = 0; s < 4; ++s) {
        VEC(bv) = VEC(b + (i + s) * cfg::N);
        VEC(bv + 4) = VEC(b + (i + s) * cfg::N + cfg::WARP_N / 2);
        for (int r = 0; r < 8; ++r)
          for (int c = 0; c < 8; ++c) acc[r][c] += av[r][s] * bv[c];
      }
    }
    now ^= 1;
  }

  const int lane = tid & 31;
  float* out = stage_out[tid >> 5];
  for (int r = 0; r < 8; ++r) {
    VEC(out + me.y * cfg::PITCH_OUT + me.x * 4) = VEC(&acc[r][0]);
    VEC(out + me.y * cfg::PITCH_OUT + me.x * 4 + cfg::WARP_N / 2) = VEC(&acc[r][4]);
    __syncwarp();
    for (int s = 0; s < cfg::STEP_Y; ++s) {
      const int row = row0 + me.row + r * cfg::STEP_Y + s;
      if (row < A.rows) {
        for (int c = lane; c < cfg::WARP_N; c += 32) {
          const int col = col0 + me.col + c;
          if (col < B.cols) P[size_t(row) * B.cols + col] = out[s * cfg::PITCH_OUT + c];
        }
      }
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Source a{M, j, k}, b{N, k, l};
  const dim3 grid((b.cols + cfg::N - 1) / cfg::N, (a.rows + cfg::M - 1) / cfg::M);
  warps<<<grid, cfg::THREADS>>>(a, b, P);
  CHECK(cudaGetLastError());
}
