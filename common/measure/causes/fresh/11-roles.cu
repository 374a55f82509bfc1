#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

// Warp 0 produces, warps 1 to 8 consume.  The ring is walked with a cursor.
using elem = __nv_bfloat16;

static constexpr int TILE = 128, KSTEP = 64, BOXW = 64, RING = 3;
static constexpr int NCONS = 8;
static constexpr int NTHREADS = 32 + 32 * NCONS;
static constexpr unsigned BOX_M_BYTES = TILE * BOXW * sizeof(elem);
static constexpr unsigned BOX_N_BYTES = KSTEP * BOXW * sizeof(elem);

struct Smem {
  elem m[RING][TILE][BOXW];
  elem nl[RING][KSTEP][BOXW];  // left half of the tile of N
  elem nr[RING][KSTEP][BOXW];  // right half
  uint64_t ready[RING];
  uint64_t free_[RING];
};

struct Cursor {
  int slot = 0;
  int parity = 0;
  __device__ void advance() {
    if (++slot == RING) {
      slot = 0;
      parity ^= 1;
    }
  }
};

__device__ const elem* pick(const elem (*box)[BOXW], int r, int c) {
  return box[r] + (((c >> 3) ^ (r & 7)) << 3);
}

__device__ void produce(Smem& sm, const CUtensorMap* m, const CUtensorMap* n, int row, int col,
                        int steps) {
  Cursor at;
  for (int i = 0; i < steps; ++i, at.advance()) {
    const int s = at.slot;
    if (i >= RING) wait_for_phase(&sm.free_[s], at.parity ^ 1);
    arrive_and_expect(&sm.ready[s], BOX_M_BYTES + 2 * BOX_N_BYTES);
    copy_box(sm.m[s], m, i * KSTEP, row, &sm.ready[s]);
    copy_box(sm.nl[s], n, col, i * KSTEP, &sm.ready[s]);
    copy_box(sm.nr[s], n, col + BOXW, i * KSTEP, &sm.ready[s]);
  }
}

__global__ void __launch_bounds__(NTHREADS, 2)
    roles(const __grid_constant__ CUtensorMap m, const __grid_constant__ CUtensorMap n, float* P,
          int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Smem& sm = *reinterpret_cast<Smem*>(raw);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  const int steps = (k + KSTEP - 1) / KSTEP;

  if (threadIdx.x < RING) {
    init_barrier(&sm.ready[threadIdx.x], 1);
    init_barrier(&sm.free_[threadIdx.x], NCONS);
    publish_barriers();
  }
  __syncthreads();

  if (warp == 0) {
    if (lane == 0) produce(sm, &m, &n, row0, col0, steps);
    return;
  }

  const int w = warp - 1;
  const int wr = (w & 1) * 64, wc = (w >> 1) * 32;
  const int lr = lane & 15, lc = (lane >> 4) * 8;
  float acc[4][4][4] = {};
  Cursor at;
  for (int i = 0; i < steps; ++i) {
    wait_for_phase(&sm.ready[at.slot], at.parity);
    const elem(*half)[BOXW] = wc < BOXW ? sm.nl[at.slot] : sm.nr[at.slot];
    for (int q = 0; q < KSTEP; q += 16) {
      uint32_t b[2][4];
      load_matrices_transposed(b[0], pick(half, q + lr, wc % BOXW + lc));
      load_matrices_transposed(b[1], pick(half, q + lr, wc % BOXW + 16 + lc));
      for (int y = 0; y < 4; ++y) {
        uint32_t a[4];
        load_matrices(a, pick(sm.m[at.slot], wr + 16 * y + lr, q + lc));
        multiply_add(acc[y][0], a, &b[0][0]);
        multiply_add(acc[y][1], a, &b[0][2]);
        multiply_add(acc[y][2], a, &b[1][0]);
        multiply_add(acc[y][3], a, &b[1][2]);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&sm.free_[at.slot]);
    at.advance();
  }
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x)
      store_sums(P, j, l, row0 + wr + 16 * y, col0 + wc + 8 * x, acc[y][x]);
}

struct Rounded {
  elem* data;
  CUtensorMap map;
  Rounded(const float* from, int rows, int cols, int box_rows) {
    const int pitch = (cols + 7) & ~7;
    data = rounded(from, rows, cols, pitch);
    map = make_map(data, cols, rows, pitch, BOXW, box_rows);
  }
  ~Rounded() { CHECK(cudaFree(data)); }
};

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Rounded m(M, j, k, TILE), n(N, k, l, KSTEP);
  CHECK(cudaFuncSetAttribute(roles, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Smem)));
  const dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  roles<<<grid, NTHREADS, sizeof(Smem)>>>(m.map, n.map, P, j, k, l);
  CHECK(cudaGetLastError());
}
