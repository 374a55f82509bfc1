#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

// Four warps, 64 x 64 of P; two stages; the first thread asks, everybody multiplies.
typedef __nv_bfloat16 b16;
#define SIDE 64
#define DEEP 64

struct Box {
  b16 v[SIDE][DEEP];
  __device__ const b16* at(int r, int c) const { return &v[r][((c >> 3) ^ (r & 7)) << 3]; }
};
struct Pool {
  Box m[2], n[2];
  uint64_t ready[2];
};

__device__ void ask(Pool* pool, const CUtensorMap* mm, const CUtensorMap* mn, int step, int row, int col) {
  uint64_t* bar = &pool->ready[step & 1];
  arrive_and_expect(bar, 2 * sizeof(Box));
  copy_box(&pool->m[step & 1], mm, step * DEEP, row, bar);
  copy_box(&pool->n[step & 1], mn, col, step * DEEP, bar);
}

__global__ void two_stages(const __grid_constant__ CUtensorMap mm, const __grid_constant__ CUtensorMap mn,
                           float* P, int j, int k, int l) {
  __shared__ __align__(1024) Pool pool;
  const int w = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE;
  const int steps = ceil_div(k, DEEP);
  if (threadIdx.x == 0) {
    init_barrier(&pool.ready[0], 1);
    init_barrier(&pool.ready[1], 1);
    publish_barriers();
    ask(&pool, &mm, &mn, 0, row, col);
  }
  __syncthreads();

  float acc[8][4] = {};  // 16 rows, 64 columns
  for (int step = 0; step < steps; step++) {
    if (threadIdx.x == 0 && step + 1 < steps) ask(&pool, &mm, &mn, step + 1, row, col);
    wait_for_phase(&pool.ready[step & 1], (step >> 1) & 1);
    const Box &m = pool.m[step & 1], &n = pool.n[step & 1];
    for (int d = 0; d < DEEP; d += 16) {
      uint32_t a[4], b[4];
      load_matrices(a, m.at(16 * w + (lane & 15), d + (lane >> 4) * 8));
      for (int c = 0; c < 4; c++) {
        load_matrices_transposed(b, n.at(d + (lane & 15), 16 * c + (lane >> 4) * 8));
        multiply_add(acc[2 * c], a, b);
        multiply_add(acc[2 * c + 1], a, b + 2);
      }
    }
    __syncthreads();
  }
  for (int c = 0; c < 8; c++) store_sums(P, j, l, row + 16 * w, col + 8 * c, acc[c]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int wide_m = ceil_div(k, 8) * 8, wide_n = ceil_div(l, 8) * 8;
  b16* m = rounded(M, j, k, wide_m);
  b16* n = rounded(N, k, l, wide_n);
  CUtensorMap mm = make_map(m, k, j, wide_m, DEEP, SIDE);
  CUtensorMap mn = make_map(n, l, k, wide_n, SIDE, DEEP);
  two_stages<<<dim3(ceil_div(l, SIDE), ceil_div(j, SIDE)), 128>>>(mm, mn, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m));
  CHECK(cudaFree(n));
}
