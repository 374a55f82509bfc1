// Lab 11: the ring is walked by a cursor that knows its slot and its parity.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using bf = __nv_bfloat16;

constexpr int SIDE = 128, DEEP = 64, DEPTH_OF_RING = 3, WORKERS = 8;

struct Slot {
  bf m[SIDE][DEEP];
  bf n[2][DEEP][DEEP];  // left and right half of 128 columns
};

struct Shared {
  Slot slots[DEPTH_OF_RING];
  uint64_t arrived[DEPTH_OF_RING];
  uint64_t released[DEPTH_OF_RING];
};

struct Cursor {
  int slot = 0;
  int parity;
  __device__ explicit Cursor(int start) : parity(start) {}
  __device__ void next() {
    if (++slot == DEPTH_OF_RING) {
      slot = 0;
      parity ^= 1;
    }
  }
};

__device__ const bf* find(const bf (*box)[DEEP], int r, int c) {
  return box[r] + (((c >> 3) ^ (r & 7)) << 3);
}

__device__ void produce(Shared& sh, const CUtensorMap* mm, const CUtensorMap* mn, int y, int x,
                        int rounds) {
  Cursor at(1);  // the phase before the first counts as complete: no wait in the first turn
  for (int i = 0; i < rounds; ++i, at.next()) {
    Slot& slot = sh.slots[at.slot];
    uint64_t* bar = &sh.arrived[at.slot];
    wait_for_phase(&sh.released[at.slot], at.parity);
    arrive_and_expect(bar, sizeof(Slot));
    copy_box(slot.m, mm, i * DEEP, y, bar);
    copy_box(slot.n[0], mn, x, i * DEEP, bar);
    copy_box(slot.n[1], mn, x + DEEP, i * DEEP, bar);
  }
}

__global__ void __launch_bounds__(32 * WORKERS + 32, 2)
    engine(const __grid_constant__ CUtensorMap mm, const __grid_constant__ CUtensorMap mn, float* P,
           int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& sh = *reinterpret_cast<Shared*>(raw);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int y = blockIdx.y * SIDE, x = blockIdx.x * SIDE;
  const int rounds = (k + DEEP - 1) / DEEP;

  if (threadIdx.x == 0) {
    for (uint64_t& b : sh.arrived) init_barrier(&b, 1);
    for (uint64_t& b : sh.released) init_barrier(&b, WORKERS);
    publish_barriers();
  }
  __syncthreads();

  if (warp == WORKERS) {
    if (lane == 0) produce(sh, &mm, &mn, y, x, rounds);
    return;
  }

  const int wy = warp / 4 * 64, wx = warp % 4 * 32;
  const int pick = lane % 16, side = lane / 16 * 8;
  float acc[4][4][4] = {};
  Cursor at(0);
  for (int i = 0; i < rounds; ++i) {
    const Slot& slot = sh.slots[at.slot];
    wait_for_phase(&sh.arrived[at.slot], at.parity);
    for (int s = 0; s < DEEP; s += 16) {
      uint32_t b[2][4];
      for (int q = 0; q < 2; ++q) {
        const int col = wx + 16 * q + side;
        load_matrices_transposed(b[q], find(slot.n[col / DEEP], s + pick, col % DEEP));
      }
      for (int r = 0; r < 4; ++r) {
        uint32_t a[4];
        load_matrices(a, find(slot.m, wy + 16 * r + pick, s + side));
        for (int c = 0; c < 4; ++c) multiply_add(acc[r][c], a, b[c / 2] + c % 2 * 2);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&sh.released[at.slot]);
    at.next();
  }
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c) store_sums(P, j, l, y + wy + 16 * r, x + wx + 8 * c, acc[r][c]);
}

static int round8(int n) { return (n + 7) & ~7; }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int pk = round8(k), pl = round8(l);
  bf* m16 = rounded(M, j, k, pk);
  bf* n16 = rounded(N, k, l, pl);
  const CUtensorMap mm = make_map(m16, k, j, pk, DEEP, SIDE);
  const CUtensorMap mn = make_map(n16, l, k, pl, DEEP, DEEP);
  const int need = sizeof(Shared);
  CHECK(cudaFuncSetAttribute(engine, cudaFuncAttributeMaxDynamicSharedMemorySize, need));
  const dim3 grid((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE);
  engine<<<grid, 32 * (WORKERS + 1), need>>>(mm, mn, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m16));
  CHECK(cudaFree(n16));
}
