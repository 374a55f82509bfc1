// Lab 11: warp 0 asks for the tiles, warps 1 to 8 multiply; stage and parity are kept by a cursor.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int TILE = 128, STEP = 64, DEPTH = 3;
constexpr int WROWS = 32, WCOLS = 64;  // of a warp: 4 x 2 of them
constexpr int WORKERS = 8;

struct Slot {
  bf16 m[TILE][STEP];
  bf16 n[2][STEP][64];  // left and right half
};
struct Belt {
  Slot slot[DEPTH];
  uint64_t ready[DEPTH];
  uint64_t taken[DEPTH];
};

// Goes round the belt.
struct Cursor {
  int slot = 0, parity = 0;
  __device__ void next() {
    if (++slot == DEPTH) {
      slot = 0;
      parity ^= 1;
    }
  }
};

__device__ const bf16* at(const bf16 (*box)[64], int row, int col) {
  return box[row] + ((col >> 3) ^ (row & 7)) * 8;
}

__device__ void produce(Belt& belt, const CUtensorMap& a, const CUtensorMap& b, int phases) {
  const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
  Cursor cur;
  for (int ph = 0; ph < phases; ++ph, cur.next()) {
    Slot& slot = belt.slot[cur.slot];
    uint64_t* ready = &belt.ready[cur.slot];
    if (ph >= DEPTH) wait_for_phase(&belt.taken[cur.slot], cur.parity ^ 1);
    arrive_and_expect(ready, sizeof(slot.m) + sizeof(slot.n));
    copy_box(slot.m, &a, ph * STEP, top, ready);
    copy_box(slot.n[0], &b, left, ph * STEP, ready);
    copy_box(slot.n[1], &b, left + 64, ph * STEP, ready);
  }
}

__global__ void __launch_bounds__(32 * (WORKERS + 1), 2)
    belt_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                float* P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Belt& belt = *reinterpret_cast<Belt*>(raw);
  const int lane = threadIdx.x % 32;
  const int worker = int(threadIdx.x / 32) - 1;  // -1: the producer
  const int phases = (k + STEP - 1) / STEP;

  if (threadIdx.x == 0) {
    for (int s = 0; s < DEPTH; ++s) {
      init_barrier(&belt.ready[s], 1);
      init_barrier(&belt.taken[s], WORKERS);
    }
    publish_barriers();
  }
  __syncthreads();

  if (worker < 0) {
    if (lane == 0) produce(belt, a, b, phases);
    return;
  }

  const int wy = worker / 2 * WROWS, half = worker % 2;
  const int r16 = lane % 16, c8 = lane / 16 * 8;
  float sum[2][8][4] = {};
  Cursor cur;
  for (int ph = 0; ph < phases; ++ph) {
    const Slot& slot = belt.slot[cur.slot];
    wait_for_phase(&belt.ready[cur.slot], cur.parity);
    for (int i = 0; i < STEP; i += 16) {
      uint32_t x[2][4];
      load_matrices(x[0], at(slot.m, wy + r16, i + c8));
      load_matrices(x[1], at(slot.m, wy + 16 + r16, i + c8));
      for (int c = 0; c < 4; ++c) {
        uint32_t y[4];
        load_matrices_transposed(y, at(slot.n[half], i + r16, 16 * c + c8));
        for (int r = 0; r < 2; ++r) {
          multiply_add(sum[r][2 * c], x[r], y);
          multiply_add(sum[r][2 * c + 1], x[r], y + 2);
        }
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&belt.taken[cur.slot]);
    cur.next();
  }

  const int row = blockIdx.y * TILE + wy, col = blockIdx.x * TILE + half * WCOLS;
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 8; ++c) store_sums(P, j, l, row + 16 * r, col + 8 * c, sum[r][c]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto round_up = [](int n) { return (n + 7) & ~7; };
  const int pm = round_up(k), pn = round_up(l);
  bf16* m16 = rounded(M, j, k, pm);
  bf16* n16 = rounded(N, k, l, pn);
  CUtensorMap a = make_map(m16, k, j, pm, STEP, TILE);
  CUtensorMap b = make_map(n16, l, k, pn, 64, STEP);

  CHECK(cudaFuncSetAttribute(belt_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             int(sizeof(Belt))));
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  belt_kernel<<<grid, 32 * (WORKERS + 1), sizeof(Belt)>>>(a, b, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m16));
  CHECK(cudaFree(n16));
}
