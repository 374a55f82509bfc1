// Tensor cores: 128 x 128 per block, 64 of k per round, 2 x 4 warps counted down the columns.
#include "check.h"
#include "tensor.h"

typedef __nv_bfloat16 half_t;

static constexpr int TB = 128;      // rows and columns of a block
static constexpr int KB = 64;       // of k per round
static constexpr int SKEW = 8;
static constexpr int WROWS = 64, WCOLS = 32;

struct Tiles {
  half_t a[TB][KB + SKEW];
  half_t b[KB][TB + SKEW];
};

struct FragA { uint32_t r[4]; };
struct FragB { uint32_t r[4]; };  // two neighbours of 8 columns

__device__ void stage_row(half_t* dst, const float* src, int valid, bool wide) {
  float f0 = 0, f1 = 0, f2 = 0, f3 = 0;
  if (wide && valid > 0) {
    const float4 f = *(const float4*)src;
    f0 = f.x; f1 = f.y; f2 = f.z; f3 = f.w;
  } else {
    if (valid > 0) f0 = src[0];
    if (valid > 1) f1 = src[1];
    if (valid > 2) f2 = src[2];
    if (valid > 3) f3 = src[3];
  }
  union { __nv_bfloat162 pair[2]; uint2 word; } out = {};
  out.pair[0] = __floats2bfloat162_rn(f0, f1);
  out.pair[1] = __floats2bfloat162_rn(f2, f3);
  *(uint2*)dst = out.word;
}

__global__ void __launch_bounds__(256)
mma_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(16) Tiles sm;
  const int t = threadIdx.x;
  const int warp = t / 32, lane = t % 32;
  const int row0 = blockIdx.y * TB, col0 = blockIdx.x * TB;
  const int wrow = warp % 2 * WROWS, wcol = warp / 2 * WCOLS;
  const bool wide_m = k % 4 == 0, wide_n = l % 4 == 0;

  float acc[4][4][4];
  for (int x = 0; x < 64; ++x) acc[x / 16][x / 4 % 4][x % 4] = 0.0f;

  for (int k0 = 0; k0 < k; k0 += KB) {
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      int r = q * 16 + t / 16, c = t % 16 * 4;  // M: 16 rows of 16 groups at a time
      int gr = row0 + r, gc = k0 + c;
      stage_row(&sm.a[r][c], M + (size_t)gr * k + gc, gr < j ? k - gc : 0, wide_m);
    }
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      int r = q * 8 + t / 32, c = t % 32 * 4;  // N: 8 rows of 32 groups at a time
      int gr = k0 + r, gc = col0 + c;
      stage_row(&sm.b[r][c], N + (size_t)gr * l + gc, gr < k ? l - gc : 0, wide_n);
    }
    __syncthreads();

#pragma unroll
    for (int kk = 0; kk < KB; kk += 16) {
      const int lrow = lane & 15, lcol = (lane >> 4) << 3;
      FragA fa[4];
      FragB fb[2];
      for (int i = 0; i < 4; ++i) load_matrices(fa[i].r, &sm.a[wrow + i * 16 + lrow][kk + lcol]);
      for (int i = 0; i < 2; ++i)
        load_matrices_transposed(fb[i].r, &sm.b[kk + lrow][wcol + i * 16 + lcol]);
      for (int n = 0; n < 4; ++n)
        for (int m = 0; m < 4; ++m) multiply_add(acc[m][n], fa[m].r, &fb[n >> 1].r[(n & 1) * 2]);
    }
    __syncthreads();
  }

  const int g = lane >> 2, tig = lane & 3;
  for (int m = 0; m < 4; ++m) {
    for (int n = 0; n < 4; ++n) {
      const int col = col0 + wcol + n * 8 + tig * 2;
      auto put = [&](int row, float v0, float v1) {
        if (row >= j || col >= l) return;
        float* dst = P + (size_t)row * l + col;
        if (l % 2 == 0) {
          *(float2*)dst = make_float2(v0, v1);
        } else {
          dst[0] = v0;
          if (col + 1 < l) dst[1] = v1;
        }
      };
      const float* v = acc[m][n];
      put(row0 + wrow + m * 16 + g, v[0], v[1]);
      put(row0 + wrow + m * 16 + g + 8, v[2], v[3]);
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = (l + TB - 1) / TB;
  grid.y = (j + TB - 1) / TB;
  mma_kernel<<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
