#include "check.h"
#include "tensor.h"

// Three parts of each float, six of the nine products; the parts are made when fragments are loaded.
using b16 = __nv_bfloat16;
constexpr int R = 64, C = 64, D = 16;
constexpr float SHIFT = 256.0f;

struct Parts {
  b16 big, mid, low;
};

__device__ Parts split(float x) {
  Parts p;
  p.big = __float2bfloat16_rn(x);
  x = (x - __bfloat162float(p.big)) * SHIFT;
  p.mid = __float2bfloat16_rn(x);
  x = (x - __bfloat162float(p.mid)) * SHIFT;
  p.low = __float2bfloat16_rn(x);
  return p;
}

__global__ void parts(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) b16 mb[R][D + 8], mm[R][D + 8], ml[R][D + 8];
  __shared__ alignas(16) b16 nb[D][C + 8], nm[D][C + 8], nl[D][C + 8];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const int top = blockIdx.y * R, left = blockIdx.x * C;
  float sum[8][4] = {};

  for (int z = 0; z < k; z += D) {
    for (int e = t; e < R * D; e += 128) {
      const int r = e / D, c = e % D;
      const Parts p = split(top + r < j && z + c < k ? M[size_t(top + r) * k + z + c] : 0.0f);
      mb[r][c] = p.big;
      mm[r][c] = p.mid;
      ml[r][c] = p.low;
    }
    for (int e = t; e < D * C; e += 128) {
      const int r = e / C, c = e % C;
      const Parts p = split(z + r < k && left + c < l ? N[size_t(z + r) * l + left + c] : 0.0f);
      nb[r][c] = p.big;
      nm[r][c] = p.mid;
      nl[r][c] = p.low;
    }
    __syncthreads();

    const int row = lane % 16, half = lane / 16 * 8;
    uint32_t ab[4], am[4], al[4];
    load_matrices(ab, &mb[16 * warp + row][half]);
    load_matrices(am, &mm[16 * warp + row][half]);
    load_matrices(al, &ml[16 * warp + row][half]);
    for (int c = 0; c < 4; ++c) {
      uint32_t bb[4], bm[4], bl[4];
      load_matrices_transposed(bb, &nb[row][16 * c + half]);
      load_matrices_transposed(bm, &nm[row][16 * c + half]);
      load_matrices_transposed(bl, &nl[row][16 * c + half]);
      for (int h = 0; h < 2; ++h) {
        float first[4] = {}, second[4] = {}, third[4] = {};
        multiply_add(first, ab, bb + 2 * h);
        multiply_add(second, ab, bm + 2 * h);
        multiply_add(second, am, bb + 2 * h);
        multiply_add(third, ab, bl + 2 * h);
        multiply_add(third, am, bm + 2 * h);
        multiply_add(third, al, bb + 2 * h);
        for (int e = 0; e < 4; ++e)
          sum[2 * c + h][e] += first[e] + (second[e] + third[e] / SHIFT) / SHIFT;
      }
    }
    __syncthreads();
  }

  for (int c = 0; c < 8; ++c)
    for (int e = 0; e < 4; ++e) {
      const int r = top + 16 * warp + lane / 4 + e / 2 * 8, q = left + 8 * c + lane % 4 * 2 + e % 2;
      if (r < j && q < l) P[size_t(r) * l + q] = sum[c][e];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  parts<<<dim3((l + C - 1) / C, (j + R - 1) / R), 128>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
