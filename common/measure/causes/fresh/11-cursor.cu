// Copy engine. Warp 0 produces, warps 1 to 8 consume; both carry a cursor round the ring.
// Marisol & Ekaterina
#include <cuda_runtime.h>
#include <cstdint>

#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using Half = __nv_bfloat16;

namespace shape {
constexpr int kTile = 128;    // of P, both ways
constexpr int kStep = 64;     // of k; also the width of a box
constexpr int kSlots = 4;
constexpr int kReaders = 8;   // warps
constexpr int kThreads = 32 * (kReaders + 1);
}  // namespace shape

using Box = Half[shape::kStep];

struct Slot {
  Half m[shape::kTile][shape::kStep];
  Half left[shape::kStep][shape::kStep];   // columns 0 to 63 of the tile of N
  Half right[shape::kStep][shape::kStep];  // columns 64 to 127
};

struct SharedRing {
  Slot slots[shape::kSlots];
  uint64_t ready[shape::kSlots];
  uint64_t free[shape::kSlots];
};

// Goes round the ring. `parity` changes each time it comes back to slot 0.
struct Cursor {
  int slot = 0;
  unsigned parity = 0;

  __device__ void advance() {
    if (++slot == shape::kSlots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

__device__ const Half* locate(const Box* box, int r, int c) {
  int chunk = (c >> 3) ^ (r & 7);
  return box[r] + (chunk << 3);
}

__device__ void produce(SharedRing& ring, const CUtensorMap& m, const CUtensorMap& n, int row,
                        int col, int steps) {
  Cursor at;
  for (int s = 0; s < steps; ++s, at.advance()) {
    Slot& slot = ring.slots[at.slot];
    uint64_t* ready = &ring.ready[at.slot];
    wait_for_phase(&ring.free[at.slot], at.parity ^ 1);  // over at once in the first round
    arrive_and_expect(ready, sizeof(Slot));
    copy_box(slot.m, &m, s * shape::kStep, row, ready);
    copy_box(slot.left, &n, col, s * shape::kStep, ready);
    copy_box(slot.right, &n, col + shape::kStep, s * shape::kStep, ready);
  }
}

__global__ void __launch_bounds__(shape::kThreads)
    engine(const __grid_constant__ CUtensorMap mapM, const __grid_constant__ CUtensorMap mapN,
           float* P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  SharedRing& ring = *reinterpret_cast<SharedRing*>(raw);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int row0 = blockIdx.y * shape::kTile, col0 = blockIdx.x * shape::kTile;
  const int steps = (k + shape::kStep - 1) / shape::kStep;

  if (warp == 0 && lane == 0) {
    for (uint64_t& b : ring.ready) init_barrier(&b, 1);
    for (uint64_t& b : ring.free) init_barrier(&b, shape::kReaders);
    publish_barriers();
  }
  __syncthreads();

  if (warp == 0) {
    if (lane == 0) produce(ring, mapM, mapN, row0, col0, steps);
    return;
  }

  const int reader = warp - 1;
  const int wr = (reader & 1) * 64;   // 2 x 4 warps of 64 x 32
  const int wc = (reader >> 1) * 32;
  float sums[4][4][4] = {};
  Cursor at;
  for (int s = 0; s < steps; ++s) {
    const Slot& slot = ring.slots[at.slot];
    const Box* half = wc < shape::kStep ? slot.left : slot.right;
    const int inHalf = wc % shape::kStep;
    wait_for_phase(&ring.ready[at.slot], at.parity);

    for (int i = 0; i < shape::kStep; i += 16) {
      const int r = lane % 16, c = lane / 16 * 8;
      uint32_t a[4][4], b[2][4];
      for (int q = 0; q < 4; ++q) load_matrices(a[q], locate(slot.m, wr + 16 * q + r, i + c));
      for (int q = 0; q < 2; ++q)
        load_matrices_transposed(b[q], locate(half, i + r, inHalf + 16 * q + c));
      for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) multiply_add(sums[y][x], a[y], b[x / 2] + 2 * (x & 1));
      }
    }

    __syncwarp();
    if (lane == 0) arrive(&ring.free[at.slot]);
    at.advance();
  }

  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      store_sums(P, j, l, row0 + wr + 16 * y, col0 + wc + 8 * x, sums[y][x]);
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto round_up = [](int x) { return (x + 7) & ~7; };
  const int pitchM = round_up(k), pitchN = round_up(l);
  Half* m = rounded(M, j, k, pitchM);
  Half* n = rounded(N, k, l, pitchN);
  const CUtensorMap mapM = make_map(m, k, j, pitchM, shape::kStep, shape::kTile);
  const CUtensorMap mapN = make_map(n, l, k, pitchN, shape::kStep, shape::kStep);

  const int bytes = sizeof(SharedRing);
  CHECK(cudaFuncSetAttribute(engine, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const dim3 grid((l + shape::kTile - 1) / shape::kTile, (j + shape::kTile - 1) / shape::kTile);
  engine<<<grid, shape::kThreads, bytes>>>(mapM, mapN, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m));
  CHECK(cudaFree(n));
}
