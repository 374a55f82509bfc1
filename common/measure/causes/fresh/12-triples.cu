// Lab 12, from numerical analysis: hi, mid and lo parts, each in a tile of its own.
#include "check.h"
#include "tensor.h"

typedef __nv_bfloat16 b16;

constexpr int E = 128, D = 16;
constexpr float S = 256.0f;

struct Triple {
  b16 hi, mid, lo;  // x = hi + mid / S + lo / S^2
  __device__ explicit Triple(float x) {
    hi = __float2bfloat16(x);
    float rest = (x - __bfloat162float(hi)) * S;
    mid = __float2bfloat16(rest);
    rest = (rest - __bfloat162float(mid)) * S;
    lo = __float2bfloat16(rest);
  }
};

template <int H, int W>
struct Tiles {
  b16 part[3][H][W + 8];
  __device__ void set(int y, int x, const Triple& t) {
    part[0][y][x] = t.hi;
    part[1][y][x] = t.mid;
    part[2][y][x] = t.lo;
  }
};

struct Frag {
  uint32_t v[4];
};

// One 16 x 8 part of the product for 16 steps of k: a and b point to the three parts' registers.
__device__ void accumulate(float (&total)[4], Frag (&a)[3][4], Frag (&b)[3][2], int r, int c) {
  const int half = (c & 1) * 2;
  float big[4] = {0, 0, 0, 0}, small[4] = {0, 0, 0, 0};
  auto product = [&](float(&to)[4], int p, int q) {
    multiply_add(to, a[p][r].v, &b[q][c / 2].v[half]);
  };
  for (int p = 0; p <= 2; ++p) product(small, p, 2 - p);
  for (int e = 0; e < 4; ++e) small[e] /= S;
  product(small, 1, 0);
  product(small, 0, 1);
  product(big, 0, 0);
  for (int e = 0; e < 4; ++e) total[e] += big[e] + small[e] / S;
}

__global__ void __launch_bounds__(256, 2)
    triple(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Tiles<E, D> tm;
  __shared__ alignas(16) Tiles<D, E> tn;
  const int t = threadIdx.x, lane = t % 32;
  const int top = E * blockIdx.y, left = E * blockIdx.x;
  const int down = t / 128 * 64, right = t / 32 % 4 * 32;

  float total[4][4][4] = {};
  for (int k0 = 0; k0 < k; k0 += D) {
    for (int n = 0; n < E * D / 256; ++n) {
      const int y = t / D + n * (256 / D), x = t % D;
      const bool in = top + y < j && k0 + x < k;
      tm.set(y, x, Triple(in ? M[size_t(top + y) * k + (k0 + x)] : 0.0f));
    }
    for (int y = t / E; y < D; y += 256 / E) {
      const int x = t % E;
      const bool in = k0 + y < k && left + x < l;
      tn.set(y, x, Triple(in ? N[size_t(k0 + y) * l + (left + x)] : 0.0f));
    }
    __syncthreads();

    Frag a[3][4], b[3][2];
    const int lr = lane % 16, lc = lane / 16 * 8;
    for (int p = 0; p < 3; ++p) {
      for (int r = 0; r < 4; ++r) load_matrices(a[p][r].v, &tm.part[p][down + 16 * r + lr][lc]);
      for (int c = 0; c < 2; ++c)
        load_matrices_transposed(b[p][c].v, &tn.part[p][lr][right + 16 * c + lc]);
    }
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 4; ++c) accumulate(total[r][c], a, b, r, c);
    __syncthreads();
  }

  auto store = [&](int row, int col, float first, float second) {
    if (row >= j || col >= l) return;
    float* to = &P[size_t(row) * l + col];
    if (l % 2 == 0) {
      *reinterpret_cast<float2*>(to) = make_float2(first, second);
      return;
    }
    to[0] = first;
    if (col + 1 < l) to[1] = second;
  };
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) {
      const int row = top + down + 16 * r + lane / 4;
      const int col = left + right + 8 * c + lane % 4 * 2;
      store(row, col, total[r][c][0], total[r][c][1]);
      store(row + 8, col, total[r][c][2], total[r][c][3]);
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + E - 1) / E, (j + E - 1) / E);
  triple<<<grid, 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
