// Lab 12: a float as three bf16, written out one by one.
#include "check.h"
#include "tensor.h"

typedef __nv_bfloat16 b16;

static constexpr int EDGE = 128, K16 = 16, GAP = 8;
static constexpr int PM = K16 + GAP, PN = EDGE + GAP;  // pitches
static constexpr int THR = 256;
static constexpr float BIG = 256.0f, SMALL = 1.0f / 256.0f;

struct Triple {
  b16 hi, mid, lo;
};

// x = hi + mid / 256 + lo / 65536
__device__ Triple split(float x) {
  Triple t;
  t.hi = __float2bfloat16_rn(x);
  const float rest = (x - __bfloat162float(t.hi)) * BIG;
  t.mid = __float2bfloat16_rn(rest);
  const float last = (rest - __bfloat162float(t.mid)) * BIG;
  t.lo = __float2bfloat16_rn(last);
  return t;
}

struct Level {
  alignas(16) b16 m[EDGE * PM];
  alignas(16) b16 n[K16 * PN];
};

struct Frags {
  uint32_t m[4][4], n[2][4];
  __device__ void load(const Level& lv, int wy, int wx, int lane) {
    const int a = lane % 16, b = lane / 16 * 8;
    for (int r = 0; r < 4; ++r) load_matrices(m[r], lv.m + (wy + 16 * r + a) * PM + b);
    for (int c = 0; c < 2; ++c) load_matrices_transposed(n[c], lv.n + a * PN + wx + 16 * c + b);
  }
  __device__ const uint32_t* col(int c) const { return &n[c / 2][c % 2 * 2]; }
};

__global__ void __launch_bounds__(THR, 2)
    exact(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Level hi, mid, lo;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int y0 = blockIdx.y * EDGE, x0 = blockIdx.x * EDGE;
  const int wy = warp / 4 * 64, wx = warp % 4 * 32;

  float total[4][4][4] = {};
  for (int k0 = 0; k0 < k; k0 += K16) {
    for (int e = t; e < EDGE * K16; e += THR) {
      const int r = e / K16, c = e % K16;
      float x = 0;
      if (y0 + r < j && k0 + c < k) x = M[size_t(y0 + r) * k + k0 + c];
      const Triple s = split(x);
      hi.m[r * PM + c] = s.hi;
      mid.m[r * PM + c] = s.mid;
      lo.m[r * PM + c] = s.lo;
    }
    for (int e = t; e < K16 * EDGE; e += THR) {
      const int r = e / EDGE, c = e % EDGE;
      float x = 0;
      if (k0 + r < k && x0 + c < l) x = N[size_t(k0 + r) * l + x0 + c];
      const Triple s = split(x);
      hi.n[r * PN + c] = s.hi;
      mid.n[r * PN + c] = s.mid;
      lo.n[r * PN + c] = s.lo;
    }
    __syncthreads();

    Frags f0, f1, f2;
    f0.load(hi, wy, wx, lane);
    f1.load(mid, wy, wx, lane);
    f2.load(lo, wy, wx, lane);
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 4; ++c) {
        float large[4] = {}, little[4] = {};
        multiply_add(little, f2.m[r], f0.col(c));
        multiply_add(little, f1.m[r], f1.col(c));
        multiply_add(little, f0.m[r], f2.col(c));
        for (int e = 0; e < 4; ++e) little[e] *= SMALL;
        multiply_add(little, f1.m[r], f0.col(c));
        multiply_add(little, f0.m[r], f1.col(c));
        multiply_add(large, f0.m[r], f0.col(c));
        for (int e = 0; e < 4; ++e) total[r][c][e] += fmaf(little[e], SMALL, large[e]);
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) {
      for (int e = 0; e < 4; e += 2) {
        const int y = y0 + wy + 16 * r + 4 * e + lane / 4;
        const int x = x0 + wx + 8 * c + lane % 4 * 2;
        if (y >= j || x >= l) continue;
        float* p = P + size_t(y) * l + x;
        if (l % 2 == 0) {
          *reinterpret_cast<float2*>(p) = make_float2(total[r][c][e], total[r][c][e + 1]);
        } else {
          p[0] = total[r][c][e];
          if (x + 1 < l) p[1] = total[r][c][e + 1];
        }
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + EDGE - 1) / EDGE, (j + EDGE - 1) / EDGE);
  exact<<<grid, THR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
