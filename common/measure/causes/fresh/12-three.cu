// float = head + middle / 256 + tail / 65536
#include "check.h"
#include "tensor.h"

typedef __nv_bfloat16 b16;

const int BH = 128, BW = 128;  // block
const int WH = 32, WW = 64;    // warp: 4 x 2 of them
const int D = 16;              // depth of a phase
const int NT = 256;
const int LM = D + 8, LN = BW + 8;

struct Split {
  b16 head, middle, tail;
  __device__ explicit Split(float x) {
    head = __float2bfloat16(x);
    float rest = (x - __bfloat162float(head)) * 256.0f;
    middle = __float2bfloat16(rest);
    rest = (rest - __bfloat162float(middle)) * 256.0f;
    tail = __float2bfloat16(rest);
  }
};

struct FragA { uint32_t r[4]; };
struct FragB { uint32_t r[4]; };  // two pieces of 8 columns

__device__ FragA fragA(const b16* tile, int row) {
  const int lane = threadIdx.x % 32;
  FragA f;
  load_matrices(f.r, tile + (row + lane % 16) * LM + lane / 16 * 8);
  return f;
}
__device__ FragB fragB(const b16* tile, int col) {
  const int lane = threadIdx.x % 32;
  FragB f;
  load_matrices_transposed(f.r, tile + lane % 16 * LN + col + lane / 16 * 8);
  return f;
}

// acc += a * b with six products; p: which of the two pieces of b
__device__ void product(float acc[4], const FragA& ah, const FragA& am, const FragA& at,
                        const FragB& bh, const FragB& bm, const FragB& bt, int p) {
  float big[4] = {0, 0, 0, 0}, mid[4] = {0, 0, 0, 0};
  multiply_add(mid, ah.r, bt.r + p);
  multiply_add(mid, am.r, bm.r + p);
  multiply_add(mid, at.r, bh.r + p);
  for (int e = 0; e < 4; e++) mid[e] *= 1.0f / 256;
  multiply_add(mid, am.r, bh.r + p);
  multiply_add(mid, ah.r, bm.r + p);
  multiply_add(big, ah.r, bh.r + p);
  for (int e = 0; e < 4; e++) acc[e] += fmaf(mid[e], 1.0f / 256, big[e]);
}

__global__ void __launch_bounds__(NT, 2)
three(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) b16 mh[BH * LM], mm[BH * LM], mt[BH * LM];
  __shared__ alignas(16) b16 nh[D * LN], nm[D * LN], nt[D * LN];

  const int id = threadIdx.x, warp = id / 32, lane = id % 32;
  const int y0 = blockIdx.y * BH, x0 = blockIdx.x * BW;
  const int wy = warp % 4 * WH, wx = warp / 4 * WW;
  float acc[2][8][4] = {};

  for (int z = 0; z < k; z += D) {
    for (int y = id / D; y < BH; y += NT / D) {
      const int x = id % D;
      const bool in = y0 + y < j && z + x < k;
      const Split s(in ? M[size_t(y0 + y) * k + z + x] : 0.0f);
      mh[y * LM + x] = s.head;
      mm[y * LM + x] = s.middle;
      mt[y * LM + x] = s.tail;
    }
    for (int y = id / BW; y < D; y += NT / BW) {
      const int x = id % BW;
      const bool in = z + y < k && x0 + x < l;
      const Split s(in ? N[size_t(z + y) * l + x0 + x] : 0.0f);
      nh[y * LN + x] = s.head;
      nm[y * LN + x] = s.middle;
      nt[y * LN + x] = s.tail;
    }
    __syncthreads();
    FragA ah[2], am[2], at[2];
    for (int a = 0; a < 2; a++) {
      ah[a] = fragA(mh, wy + 16 * a);
      am[a] = fragA(mm, wy + 16 * a);
      at[a] = fragA(mt, wy + 16 * a);
    }
    for (int b = 0; b < 4; b++) {
      const int col = wx + 16 * b;
      const FragB bh = fragB(nh, col), bm = fragB(nm, col), bt = fragB(nt, col);
      for (int a = 0; a < 2; a++) {
        product(acc[a][2 * b], ah[a], am[a], at[a], bh, bm, bt, 0);
        product(acc[a][2 * b + 1], ah[a], am[a], at[a], bh, bm, bt, 2);
      }
    }
    __syncthreads();
  }

  for (int a = 0; a < 2; a++) {
    for (int b = 0; b < 8; b++) {
      for (int e = 0; e < 4; e += 2) {
        const int y = y0 + wy + 16 * a + 4 * e + lane / 4;
        const int x = x0 + wx + 8 * b + lane % 4 * 2;
        if (y >= j) continue;
        float* to = P + size_t(y) * l + x;
        if (l % 2 == 0) {
          if (x < l) *(float2*)to = make_float2(acc[a][b][e], acc[a][b][e + 1]);
        } else {
          if (x < l) to[0] = acc[a][b][e];
          if (x + 1 < l) to[1] = acc[a][b][e + 1];
        }
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int high = j / BH + (j % BH != 0), wide = l / BW + (l % BW != 0);
  three<<<dim3(wide, high), NT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
