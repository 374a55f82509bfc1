// Lab 11: producer and consumers each keep a Cursor (slot and parity) that they advance.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using T = __nv_bfloat16;
constexpr int SLOTS = 3, EDGE = 128, DEEP = 64, WORKERS = 8;

struct Slot {
  T left[EDGE][DEEP];
  T right[2][DEEP][DEEP];  // two halves of 64 columns
};

struct Belt {
  Slot slot[SLOTS];
  uint64_t loaded[SLOTS];
  uint64_t drained[SLOTS];
};

struct Cursor {
  int slot = 0, parity = 0;
  __device__ void advance() {
    if (++slot == SLOTS) {
      slot = 0;
      parity ^= 1;
    }
  }
};

__device__ const T* find(const T (*box)[DEEP], int row, int col) {
  return box[row] + ((col >> 3 ^ (row & 7)) << 3);
}

__device__ void produce(Belt& belt, const CUtensorMap* a, const CUtensorMap* b, int y, int x,
                        int k) {
  Cursor at;
  for (int from = 0; from < k; from += DEEP, at.advance()) {
    Slot& slot = belt.slot[at.slot];
    uint64_t* bell = &belt.loaded[at.slot];
    if (from >= SLOTS * DEEP) wait_for_phase(&belt.drained[at.slot], at.parity ^ 1);
    arrive_and_expect(bell, sizeof(slot.left) + sizeof(slot.right));
    copy_box(slot.left, a, from, y, bell);
    copy_box(slot.right[0], b, x, from, bell);
    copy_box(slot.right[1], b, x + DEEP, from, bell);
  }
}

__global__ void __launch_bounds__((WORKERS + 1) * 32, 2)
    conveyor(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             float* out, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Belt& belt = *reinterpret_cast<Belt*>(raw);
  const int who = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int y0 = blockIdx.y * EDGE, x0 = blockIdx.x * EDGE;

  if (threadIdx.x == 0) {
    for (uint64_t& bell : belt.loaded) init_barrier(&bell, 1);
    for (uint64_t& bell : belt.drained) init_barrier(&bell, WORKERS);
    publish_barriers();
  }
  __syncthreads();

  if (who == WORKERS) {
    if (lane == 0) produce(belt, &a, &b, y0, x0, k);
    return;
  }

  const int wy = who / 4 * 64, wx = who % 4 * 32;
  const int lr = lane % 16, lc = lane / 16 * 8;
  float acc[4][4][4] = {};
  Cursor at;
  for (int n = ceil_div(k, DEEP); n > 0; --n) {
    const Slot& slot = belt.slot[at.slot];
    wait_for_phase(&belt.loaded[at.slot], at.parity);
    for (int i = 0; i < DEEP; i += 16) {
      uint32_t right[2][4];
      for (int c = 0; c < 2; ++c) {
        load_matrices_transposed(right[c],
                                 find(slot.right[wx / 64], i + lr, wx % 64 + 16 * c + lc));
      }
      for (int r = 0; r < 4; ++r) {
        uint32_t left[4];
        load_matrices(left, find(slot.left, wy + 16 * r + lr, i + lc));
        for (int c = 0; c < 4; ++c) multiply_add(acc[r][c], left, &right[c / 2][c % 2 * 2]);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&belt.drained[at.slot]);
    at.advance();
  }

  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) store_sums(out, j, l, y0 + wy + 16 * r, x0 + wx + 8 * c, acc[r][c]);
}

static int to_eight(int n) { return (n + 7) & ~7; }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int wide_k = to_eight(k), wide_l = to_eight(l);
  T* m = rounded(M, j, k, wide_k);
  T* n = rounded(N, k, l, wide_l);
  const CUtensorMap map_a = make_map(m, k, j, wide_k, DEEP, EDGE);
  const CUtensorMap map_b = make_map(n, l, k, wide_l, DEEP, DEEP);
  CHECK(cudaFuncSetAttribute(conveyor, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Belt)));
  conveyor<<<dim3(ceil_div(l, EDGE), ceil_div(j, EDGE)), (WORKERS + 1) * 32, sizeof(Belt)>>>(
      map_a, map_b, P, j, k, l);
  CHECK(cudaGetLastError());
  for (T* p : {m, n}) CHECK(cudaFree(p));
}
