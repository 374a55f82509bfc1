#include "check.h"
#include "tensor.h"

using bf = __nv_bfloat16;

constexpr int S = 128, Z = 16, PM = Z + 8, PN = S + 8, NT = 256;
constexpr float kUp = 256.0f;
constexpr float kDown = 1.0f / 256.0f;

struct Triple {
  bf big, mid, tiny;
};

__device__ Triple split(float x) {
  Triple t;
  t.big = __float2bfloat16_rn(x);
  float rest = (x - __bfloat162float(t.big)) * kUp;
  t.mid = __float2bfloat16_rn(rest);
  rest = (rest - __bfloat162float(t.mid)) * kUp;
  t.tiny = __float2bfloat16_rn(rest);
  return t;
}

struct Tiles {
  bf m[3][S][PM];
  bf n[3][Z][PN];
};

__device__ void scale(float (&v)[4], float f) {
  v[0] *= f; v[1] *= f; v[2] *= f; v[3] *= f;
}

__global__ void __launch_bounds__(NT, 2)
    pieces(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Tiles sh;
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int y0 = blockIdx.y * S, x0 = blockIdx.x * S;
  const int wy = warp / 4 * 64, wx = warp % 4 * 32;
  const int lr = lane % 16, lc = lane / 16 * 8;
  float total[4][4][4] = {};

  for (int z = 0; z < k; z += Z) {
    for (int r = tid / Z; r < S; r += NT / Z) {
      const int c = tid % Z;
      float x = 0.0f;
      if (y0 + r < j && z + c < k) x = M[size_t(y0 + r) * k + z + c];
      const Triple t = split(x);
      sh.m[0][r][c] = t.big;
      sh.m[1][r][c] = t.mid;
      sh.m[2][r][c] = t.tiny;
    }
    for (int r = tid / S; r < Z; r += NT / S) {
      const int c = tid % S;
      float x = 0.0f;
      if (z + r < k && x0 + c < l) x = N[size_t(z + r) * l + x0 + c];
      const Triple t = split(x);
      sh.n[0][r][c] = t.big;
      sh.n[1][r][c] = t.mid;
      sh.n[2][r][c] = t.tiny;
    }
    __syncthreads();

    uint32_t nf[3][2][4];
    for (int p = 0; p < 3; ++p)
      for (int c = 0; c < 2; ++c)
        load_matrices_transposed(nf[p][c], &sh.n[p][lr][wx + 16 * c + lc]);
    for (int r = 0; r < 4; ++r) {
      uint32_t mf[3][4];
      for (int p = 0; p < 3; ++p) load_matrices(mf[p], &sh.m[p][wy + 16 * r + lr][lc]);
      for (int c = 0; c < 4; ++c) {
        const int h = c / 2, o = (c & 1) << 1;
        float small[4] = {}, main[4] = {};
        for (int p = 0; p < 3; ++p) multiply_add(small, mf[p], nf[2 - p][h] + o);
        scale(small, kDown);
        for (int p = 0; p < 2; ++p) multiply_add(small, mf[p], nf[1 - p][h] + o);
        scale(small, kDown);
        multiply_add(main, mf[0], nf[0][h] + o);
        for (int e = 0; e < 4; ++e) total[r][c][e] += main[e] + small[e];
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) {
      for (int e = 0; e < 4; e += 2) {
        const int y = y0 + wy + 16 * r + lane / 4 + 4 * e;
        const int x = x0 + wx + 8 * c + lane % 4 * 2;
        if (y >= j || x >= l) continue;
        float* to = P + size_t(y) * l + x;
        if (l % 2 == 0) {
          *reinterpret_cast<float2*>(to) = make_float2(total[r][c][e], total[r][c][e + 1]);
        } else {
          to[0] = total[r][c][e];
          if (x + 1 < l) to[1] = total[r][c][e + 1];
        }
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 blocks((l + S - 1) / S, (j + S - 1) / S);
  pieces<<<blocks, NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
