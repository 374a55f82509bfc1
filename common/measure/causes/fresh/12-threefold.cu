// Lab 12: the pairs of pieces stand in a table; warps of 32 x 64; one structure for both tiles.
#include "check.h"
#include "tensor.h"

typedef __nv_bfloat16 bf;

constexpr int SIDE = 128, STEPS = 16, GAP = 8;
constexpr int WY = 32, WX = 64;

struct Tiles {
  bf m[3][SIDE][STEPS + GAP];
  bf n[3][STEPS][SIDE + GAP];
};

struct Pieces {
  bf p[3];
};

__device__ Pieces split(float x) {
  Pieces out;
  out.p[0] = __float2bfloat16_rn(x);
  float rest = (x - __bfloat162float(out.p[0])) * 256.0f;
  out.p[1] = __float2bfloat16_rn(rest);
  rest = (rest - __bfloat162float(out.p[1])) * 256.0f;
  out.p[2] = __float2bfloat16_rn(rest);
  return out;
}

__device__ void scale(float (&v)[4], float by) {
  for (int e = 0; e < 4; ++e) v[e] *= by;
}

__global__ void __launch_bounds__(256) threefold(const float* M, const float* N, float* P, int j,
                                                 int k, int l) {
  __shared__ alignas(16) Tiles s;
  const int id = threadIdx.x, lane = id % 32, warp = id / 32;
  const int by = blockIdx.y * SIDE, bx = blockIdx.x * SIDE;
  const int wy = warp / 2 * WY, wx = warp % 2 * WX;

  float total[2][8][4] = {};
  for (int k0 = 0; k0 < k; k0 += STEPS) {
    for (int r = id / STEPS; r < SIDE; r += 256 / STEPS) {
      const int i = id % STEPS, row = by + r, col = k0 + i;
      const Pieces a = split(row < j && col < k ? M[size_t(row) * k + col] : 0.0f);
      for (int q = 0; q < 3; ++q) s.m[q][r][i] = a.p[q];
    }
    for (int i = id / SIDE; i < STEPS; i += 256 / SIDE) {
      const int c = id % SIDE, row = k0 + i, col = bx + c;
      const Pieces b = split(row < k && col < l ? N[size_t(row) * l + col] : 0.0f);
      for (int q = 0; q < 3; ++q) s.n[q][i][c] = b.p[q];
    }
    __syncthreads();

    const int nr = lane % 16, nc = lane / 16 * 8;
    uint32_t a[3][2][4];
    for (int q = 0; q < 3; ++q)
      for (int y = 0; y < 2; ++y) load_matrices(a[q][y], &s.m[q][wy + 16 * y + nr][nc]);

    for (int x = 0; x < 8; x += 2) {
      uint32_t b[3][4];
      for (int q = 0; q < 3; ++q) load_matrices_transposed(b[q], &s.n[q][nr][wx + 8 * x + nc]);
      for (int y = 0; y < 2; ++y) {
        for (int h = 0; h < 2; ++h) {
          float big[4] = {}, small[4] = {};
          for (int q = 0; q < 3; ++q) multiply_add(small, a[q][y], &b[2 - q][2 * h]);
          scale(small, 1.0f / 256);
          for (int q = 0; q < 2; ++q) multiply_add(small, a[q][y], &b[1 - q][2 * h]);
          scale(small, 1.0f / 256);
          multiply_add(big, a[0][y], &b[0][2 * h]);
          for (int e = 0; e < 4; ++e) total[y][x + h][e] += big[e] + small[e];
        }
      }
    }
    __syncthreads();
  }

  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 8; ++x) {
      for (int e = 0; e < 4; e += 2) {
        const int row = by + wy + 16 * y + lane / 4 + (e == 2 ? 8 : 0);
        const int col = bx + wx + 8 * x + lane % 4 * 2;
        if (row >= j || col >= l) continue;
        float* to = &P[size_t(row) * l + col];
        if (l % 2 == 0) {
          *reinterpret_cast<float2*>(to) = make_float2(total[y][x][e], total[y][x][e + 1]);
        } else {
          *to = total[y][x][e];
          if (col + 1 < l) to[1] = total[y][x][e + 1];
        }
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto blocks = [](int size) { return unsigned((size + SIDE - 1) / SIDE); };
  threefold<<<dim3(blocks(l), blocks(j)), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
