// Lab 09, Rossi: phases of 8, lanes placed bit by bit, shared memory asked for at launch.
#include "check.h"
#include "copy_async.h"

namespace cfg {
constexpr int B = 128;         // block: B x B of P
constexpr int WH = 64, WW = 32;  // warp
constexpr int K = 8;           // steps of a phase
constexpr int PITCH_M = K + 4;
constexpr int PITCH_OUT = WW + 16;
constexpr int WARPS = (B / WH) * (B / WW);
}  // namespace cfg

struct Shared {
  float m[2][cfg::B][cfg::PITCH_M];
  float n[2][cfg::K][cfg::B];
  float out[cfg::WARPS][8][cfg::PITCH_OUT];
};

struct Problem {
  const float *M, *N;
  float* P;
  int j, k, l;
};

__device__ __forceinline__ float4& f4(float& first) { return reinterpret_cast<float4&>(first); }
__device__ __forceinline__ int bit(int word, int n) { return (word >> n) & 1; }

__device__ void bring(float* to, const float* A, int rows, int cols, int row, int col) {
  size_t at = size_t(row) * cols + col;
  if (cols % 4) {
    for (int c = 0; c < 4; ++c, ++at) {
      bool in = row < rows && col + c < cols;
      copy_async<4>(to + c, A + (in ? at : 0), in);
    }
  } else {
    bool in = row < rows && col < cols;
    copy_async<16>(to, A + (in ? at : 0), in);
  }
}

__device__ void bring_phase(Shared& s, const Problem& g, int ph) {
  int t = threadIdx.x, stage = ph & 1;
  int r = t >> 1, i = (t & 1) << 2;   // 128 rows of two pieces
  int d = t >> 5, c = (t & 31) << 2;  // 8 rows of 32 pieces
  bring(&s.m[stage][r][i], g.M, g.j, g.k, blockIdx.y * cfg::B + r, ph * cfg::K + i);
  bring(&s.n[stage][d][c], g.N, g.k, g.l, ph * cfg::K + d, blockIdx.x * cfg::B + c);
  __pipeline_commit();
}

__global__ void __launch_bounds__(256, 2) rossi(Problem g) {
  extern __shared__ __align__(16) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int wr = (warp >> 2) * cfg::WH, wc = (warp & 3) * cfg::WW;
  int ly = bit(lane, 1) | bit(lane, 3) << 1 | bit(lane, 4) << 2;
  int lx = bit(lane, 0) | bit(lane, 2) << 1;

  alignas(16) float sum[8][8] = {};
  int phases = (g.k + cfg::K - 1) / cfg::K;
  bring_phase(s, g, 0);
  for (int ph = 0; ph < phases; ++ph) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (ph < phases - 1) bring_phase(s, g, ph + 1);

    auto& m = s.m[ph & 1];
    auto& n = s.n[ph & 1];
    for (int i = 0; i < cfg::K; i += 4) {
      alignas(16) float a[8][4], b[8];
      for (int r = 0; r < 8; ++r) f4(a[r][0]) = f4(m[wr + ly + 8 * r][i]);
      for (int q = 0; q < 4; ++q) {
        f4(b[0]) = f4(n[i + q][wc + 4 * lx]);
        f4(b[4]) = f4(n[i + q][wc + 4 * lx + 16]);
        for (int r = 0; r < 8; ++r)
          for (int c = 0; c < 8; ++c) sum[r][c] += a[r][q] * b[c];
      }
    }
  }

  int col = blockIdx.x * cfg::B + wc + lane;
  for (int r = 0; r < 8; ++r) {
    f4(s.out[warp][ly][4 * lx]) = f4(sum[r][0]);
    f4(s.out[warp][ly][4 * lx + 16]) = f4(sum[r][4]);
    __syncwarp();
    int row = blockIdx.y * cfg::B + wr + 8 * r;
    int rows = min(8, g.j - row);
    for (int q = 0; q < rows; ++q, ++row) {
      if (col < g.l) g.P[size_t(row) * g.l + col] = s.out[warp][q][lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Problem g{M, N, P, j, k, l};
  dim3 grid((l + cfg::B - 1) / cfg::B, (j + cfg::B - 1) / cfg::B);
  rossi<<<grid, cfg::WARPS * 32, sizeof(Shared)>>>(g);
  CHECK(cudaGetLastError());
}
