// Lab 12: x = hi + mid / 256 + lo / 65536. Six products, the small ones first, summed in float.
#include "check.h"
#include "tensor.h"

using bf = __nv_bfloat16;

constexpr int S = 128, D = 16, TH = 256;
constexpr float SCALE = 256.0f, INV = 1.0f / 256.0f;

struct Triple {
  bf hi, mid, lo;
};

__device__ Triple decompose(float x) {
  Triple t;
  t.hi = __float2bfloat16_rn(x);
  float rest = (x - __bfloat162float(t.hi)) * SCALE;
  t.mid = __float2bfloat16_rn(rest);
  rest = (rest - __bfloat162float(t.mid)) * SCALE;
  t.lo = __float2bfloat16_rn(rest);
  return t;
}

template <int H, int W>
struct Tiles {
  bf hi[H][W + 8], mid[H][W + 8], lo[H][W + 8];

  __device__ void load(const float* A, int rows, int cols, int row0, int col0) {
    for (int e = threadIdx.x; e < H * W; e += TH) {
      const int r = e / W, c = e - r * W;
      const int row = row0 + r, col = col0 + c;
      const Triple t = decompose(row < rows && col < cols ? A[size_t(row) * cols + col] : 0.0f);
      hi[r][c] = t.hi;
      mid[r][c] = t.mid;
      lo[r][c] = t.lo;
    }
  }
};

__device__ void six_products(float (&total)[4], const uint32_t (&a)[3][4], const uint32_t (&b)[3][4], int side) {
  float tiny[4] = {0, 0, 0, 0}, main_[4] = {0, 0, 0, 0};
  multiply_add(tiny, a[2], &b[0][side]);
  multiply_add(tiny, a[1], &b[1][side]);
  multiply_add(tiny, a[0], &b[2][side]);
  for (int e = 0; e < 4; ++e) tiny[e] *= INV;
  multiply_add(tiny, a[1], &b[0][side]);
  multiply_add(tiny, a[0], &b[1][side]);
  multiply_add(main_, a[0], &b[0][side]);
  for (int e = 0; e < 4; ++e) total[e] += fmaf(tiny[e], INV, main_[e]);
}

__global__ void __launch_bounds__(TH) accurate(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(16) Tiles<S, D> tm;
  __shared__ __align__(16) Tiles<D, S> tn;

  const int w = threadIdx.x / 32, t = threadIdx.x % 32;
  const int row0 = blockIdx.y * S, col0 = blockIdx.x * S;
  const int wr = w % 4 * 32, wc = w / 4 * 64;
  const int nr = t % 16, nc = t / 16 * 8;

  float total[2][8][4] = {};
  for (int z = 0; z < k; z += D) {
    tm.load(M, j, k, row0, z);
    tn.load(N, k, l, z, col0);
    __syncthreads();

    uint32_t a[2][3][4];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      load_matrices(a[r][0], &tm.hi[wr + 16 * r + nr][nc]);
      load_matrices(a[r][1], &tm.mid[wr + 16 * r + nr][nc]);
      load_matrices(a[r][2], &tm.lo[wr + 16 * r + nr][nc]);
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      uint32_t b[3][4];
      load_matrices_transposed(b[0], &tn.hi[nr][wc + 16 * c + nc]);
      load_matrices_transposed(b[1], &tn.mid[nr][wc + 16 * c + nc]);
      load_matrices_transposed(b[2], &tn.lo[nr][wc + 16 * c + nc]);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        six_products(total[r][2 * c], a[r], b, 0);
        six_products(total[r][2 * c + 1], a[r], b, 2);
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 8; ++c) {
      for (int h = 0; h < 2; ++h) {
        const int row = row0 + wr + 16 * r + t / 4 + 8 * h;
        const int col = col0 + wc + 8 * c + t % 4 * 2;
        if (row >= j) continue;
        float* at = P + size_t(row) * l + col;
        const float u = total[r][c][2 * h], v = total[r][c][2 * h + 1];
        if (l % 2 == 0) {
          if (col < l) *reinterpret_cast<float2*>(at) = make_float2(u, v);
        } else {
          if (col < l) at[0] = u;
          if (col + 1 < l) at[1] = v;
        }
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto pieces = [](int whole) { return (whole + S - 1) / S; };
  accurate<<<dim3(pieces(l), pieces(j)), TH>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
