// three bf16 per float: hi, mid (x 2^8), lo (x 2^16)
#include "check.h"
#include "tensor.h"

struct Triple { __nv_bfloat16 hi, mid, lo; };

__device__ inline Triple split(float x) {
  Triple t;
  t.hi = __float2bfloat16_rn(x);
  float rest = (x - __bfloat162float(t.hi)) * 256.0f;
  t.mid = __float2bfloat16_rn(rest);
  rest = (rest - __bfloat162float(t.mid)) * 256.0f;
  t.lo = __float2bfloat16_rn(rest);
  return t;
}

template <int ROWS, int COLS>
struct SplitTile {
  __nv_bfloat16 hi[ROWS][COLS + 8], mid[ROWS][COLS + 8], lo[ROWS][COLS + 8];

  __device__ void set(int r, int c, float x) {
    Triple t = split(x);
    hi[r][c] = t.hi;
    mid[r][c] = t.mid;
    lo[r][c] = t.lo;
  }
};

struct FragA { uint32_t hi[4], mid[4], lo[4]; };
struct FragB { uint32_t hi[4], mid[4], lo[4]; };  // 16 columns: registers 0, 1 and 2, 3

// acc += a * b for 16 steps; side: which 8 of the 16 columns of b
__device__ void product(float* acc, const FragA& a, const FragB& b, int side) {
  const int s = 2 * side;
  float small[4] = {0, 0, 0, 0};
  multiply_add(small, a.lo, b.hi + s);
  multiply_add(small, a.mid, b.mid + s);
  multiply_add(small, a.hi, b.lo + s);
  for (int e = 0; e < 4; e++) small[e] /= 256;
  multiply_add(small, a.mid, b.hi + s);
  multiply_add(small, a.hi, b.mid + s);
  float big[4] = {0, 0, 0, 0};
  multiply_add(big, a.hi, b.hi + s);
  for (int e = 0; e < 4; e++) acc[e] += big[e] + small[e] / 256;
}

__device__ void write(float* P, int j, int l, int row, int col, float x, float y) {
  if (row >= j) return;
  float* p = &P[size_t(row) * l + col];
  if (l % 2 == 0) {
    if (col < l) *(float2*)p = make_float2(x, y);
    return;
  }
  if (col < l) p[0] = x;
  if (col + 1 < l) p[1] = y;
}

__global__ void __launch_bounds__(256, 2) triple_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) SplitTile<128, 16> m;
  __shared__ alignas(16) SplitTile<16, 128> n;

  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int row0 = blockIdx.y * 128, col0 = blockIdx.x * 128;
  const int wr = warp / 4 * 64, wc = warp % 4 * 32;

  float acc[4][4][4] = {};
  for (int z = 0; z < k; z += 16) {
    for (int pass = 0; pass < 8; pass++) {
      int r = pass * 16 + tid / 16, c = tid % 16;
      m.set(r, c, row0 + r < j && z + c < k ? M[size_t(row0 + r) * k + z + c] : 0.0f);
    }
    for (int pass = 0; pass < 8; pass++) {
      int r = pass * 2 + tid / 128, c = tid % 128;
      n.set(r, c, z + r < k && col0 + c < l ? N[size_t(z + r) * l + col0 + c] : 0.0f);
    }
    __syncthreads();

    const int lr = lane % 16, lc = lane / 16 * 8;
    FragB b[2];
    for (int x = 0; x < 2; x++) {
      load_matrices_transposed(b[x].hi, &n.hi[lr][wc + 16 * x + lc]);
      load_matrices_transposed(b[x].mid, &n.mid[lr][wc + 16 * x + lc]);
      load_matrices_transposed(b[x].lo, &n.lo[lr][wc + 16 * x + lc]);
    }
    for (int y = 0; y < 4; y++) {
      FragA a;
      load_matrices(a.hi, &m.hi[wr + 16 * y + lr][lc]);
      load_matrices(a.mid, &m.mid[wr + 16 * y + lr][lc]);
      load_matrices(a.lo, &m.lo[wr + 16 * y + lr][lc]);
      for (int x = 0; x < 4; x++) product(acc[y][x], a, b[x / 2], x % 2);
    }
    __syncthreads();
  }

  for (int y = 0; y < 4; y++) {
    for (int x = 0; x < 4; x++) {
      const float* v = acc[y][x];
      int row = row0 + wr + 16 * y + lane / 4, col = col0 + wc + 8 * x + lane % 4 * 2;
      write(P, j, l, row, col, v[0], v[1]);
      write(P, j, l, row + 8, col, v[2], v[3]);
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int across = (l + 127) / 128, down = (j + 127) / 128;
  triple_kernel<<<dim3(across, down), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
