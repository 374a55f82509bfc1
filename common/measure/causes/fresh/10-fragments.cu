// Tensor cores, warp tiles of 32 x 64 (4 x 2 warps). Fragments as little structs.
#include "check.h"
#include "tensor.h"

using half_t = __nv_bfloat16;

constexpr int kM = 128, kN = 128, kK = 64, kWarpM = 32, kWarpN = 64, kThreads = 256;
constexpr int kPad = 8;

struct FragA {
  uint32_t reg[4];
  __device__ void load(const half_t (*tile)[kK + kPad], int row, int col, int lane) {
    load_matrices(reg, &tile[row + (lane & 15)][col + (lane >> 4) * 8]);
  }
};

struct FragB2 {  // two pieces of 8 columns
  uint32_t reg[4];
  __device__ void load(const half_t (*tile)[kN + kPad], int row, int col, int lane) {
    load_matrices_transposed(reg, &tile[row + (lane & 15)][col + (lane >> 4) * 8]);
  }
};

template <int H, int W>
__device__ void stage(half_t (*tile)[W + kPad], const float* src, int rows, int cols, int r0, int c0) {
  constexpr int quads = W / 4;
  for (int n = threadIdx.x; n < H * quads; n += kThreads) {
    const int r = n / quads, c = n % quads * 4;
    const int row = r0 + r, col = c0 + c;
    float v[4] = {};
    if (row < rows) {
      const float* p = src + size_t(row) * cols + col;
      if (cols % 4 == 0) {
        if (col < cols) {
          const float4 f = *reinterpret_cast<const float4*>(p);
          v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
        }
      } else {
        for (int q = 0; q < 4; ++q)
          if (col + q < cols) v[q] = p[q];
      }
    }
    alignas(8) __nv_bfloat162 two[2] = {__floats2bfloat162_rn(v[0], v[1]),
                                        __floats2bfloat162_rn(v[2], v[3])};
    *reinterpret_cast<uint2*>(&tile[r][c]) = *reinterpret_cast<uint2*>(two);
  }
}

__device__ void put_pair(float* P, int j, int l, int row, int col, float a, float b) {
  if (row >= j || col >= l) return;
  float* to = P + size_t(row) * l + col;
  if (l % 2 == 0) {
    *reinterpret_cast<float2*>(to) = float2{a, b};
    return;
  }
  to[0] = a;
  if (col + 1 < l) to[1] = b;
}

__global__ void __launch_bounds__(kThreads, 2)
    fragments(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) half_t left[kM][kK + kPad];
  __shared__ alignas(16) half_t right[kK][kN + kPad];

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = blockIdx.y * kM, col0 = blockIdx.x * kN;
  const int wm = warp % 4 * kWarpM, wn = warp / 4 * kWarpN;

  float acc[2][8][4] = {};
  for (int depth = 0; depth < k; depth += kK) {
    stage<kM, kK>(left, M, j, k, row0, depth);
    stage<kK, kN>(right, N, k, l, depth, col0);
    __syncthreads();
    for (int i = 0; i < kK; i += 16) {
      FragA a[2];
      a[0].load(left, wm, i, lane);
      a[1].load(left, wm + 16, i, lane);
      for (int q = 0; q < 4; ++q) {
        FragB2 b;
        b.load(right, i, wn + 16 * q, lane);
        for (int h = 0; h < 2; ++h) {
          multiply_add(acc[0][2 * q + h], a[0].reg, b.reg + 2 * h);
          multiply_add(acc[1][2 * q + h], a[1].reg, b.reg + 2 * h);
        }
      }
    }
    __syncthreads();
  }

  const int g = lane >> 2, t = lane & 3;
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 8; ++c) {
      const float* s = acc[r][c];
      const int row = row0 + wm + 16 * r + g, col = col0 + wn + 8 * c + 2 * t;
      put_pair(P, j, l, row, col, s[0], s[1]);
      put_pair(P, j, l, row + 8, col, s[2], s[3]);
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + kN - 1) / kN, (j + kM - 1) / kM);
  fragments<<<grid, kThreads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
