// Lab 11. A cursor walks round the ring: place and parity, no division.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int SIDE = 128, DEPTH = 64, PLACES = 3;
constexpr int WARPS = 8, THREADS = 32 * WARPS + 32;

struct Slot {
  bf16 m[SIDE][DEPTH];
  bf16 n[2][DEPTH][64];
};

struct Shared {
  Slot slot[PLACES];
  uint64_t full[PLACES];
  uint64_t empty[PLACES];
};

struct Cursor {
  int place = 0;
  int parity = 0;
  __device__ void next() {
    if (++place == PLACES) {
      place = 0;
      parity ^= 1;
    }
  }
};

__device__ const bf16* at(const bf16 (*box)[64], int r, int c) {
  return &box[r][((c >> 3) ^ (r & 7)) << 3];
}

__device__ void produce(Shared& sh, const CUtensorMap* mm, const CUtensorMap* mn, int row, int col,
                        int count) {
  Cursor cur;
  for (int f = 0; f < count; ++f, cur.next()) {
    uint64_t* full = &sh.full[cur.place];
    if (f >= PLACES) wait_for_phase(&sh.empty[cur.place], cur.parity ^ 1);
    arrive_and_expect(full, sizeof(Slot));
    Slot& slot = sh.slot[cur.place];
    copy_box(slot.m, mm, f * DEPTH, row, full);
    copy_box(slot.n[0], mn, col, f * DEPTH, full);
    copy_box(slot.n[1], mn, col + 64, f * DEPTH, full);
  }
}

__device__ void consume(const Slot& slot, float (&sum)[4][4][4], int wr, int wc, int lane) {
  const int lr = lane & 15, lc = (lane >> 4) << 3;
  const bf16(*half)[64] = slot.n[wc / 64];
#pragma unroll
  for (int i = 0; i < DEPTH; i += 16) {
    uint32_t b[2][4], a[4];
    load_matrices_transposed(b[0], at(half, i + lr, wc % 64 + lc));
    load_matrices_transposed(b[1], at(half, i + lr, wc % 64 + 16 + lc));
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      load_matrices(a, at(slot.m, wr + 16 * r + lr, i + lc));
#pragma unroll
      for (int c = 0; c < 4; ++c) multiply_add(sum[r][c], a, &b[c >> 1][(c & 1) << 1]);
    }
  }
}

__global__ void __launch_bounds__(THREADS, 2)
    engine(const __grid_constant__ CUtensorMap mm, const __grid_constant__ CUtensorMap mn, float* P,
           int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& sh = *reinterpret_cast<Shared*>(raw);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE;
  const int count = (k + DEPTH - 1) / DEPTH;

  if (threadIdx.x == 0) {
    for (uint64_t* b = sh.full; b != sh.full + PLACES; ++b) init_barrier(b, 1);
    for (uint64_t* b = sh.empty; b != sh.empty + PLACES; ++b) init_barrier(b, WARPS);
    publish_barriers();
  }
  __syncthreads();

  if (warp == WARPS) {
    if (lane == 0) produce(sh, &mm, &mn, row, col, count);
    return;
  }

  const int wr = warp / 4 * 64, wc = warp % 4 * 32;
  float sum[4][4][4] = {};
  Cursor cur;
  for (int f = 0; f < count; ++f) {
    wait_for_phase(&sh.full[cur.place], cur.parity);
    consume(sh.slot[cur.place], sum, wr, wc, lane);
    __syncwarp();
    if (lane == 0) arrive(&sh.empty[cur.place]);
    cur.next();
  }
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c)
      store_sums(P, j, l, row + wr + 16 * r, col + wc + 8 * c, sum[r][c]);
}

static int up8(int n) { return (n + 7) & ~7; }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  bf16* rm = rounded(M, j, k, up8(k));
  bf16* rn = rounded(N, k, l, up8(l));
  CUtensorMap mm = make_map(rm, k, j, up8(k), DEPTH, SIDE);
  CUtensorMap mn = make_map(rn, l, k, up8(l), 64, DEPTH);
  const int bytes = sizeof(Shared);
  CHECK(cudaFuncSetAttribute(engine, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  engine<<<dim3((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE), THREADS, bytes>>>(mm, mn, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(rm));
  CHECK(cudaFree(rn));
}
