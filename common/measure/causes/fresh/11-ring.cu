// Lab 11: the ring as a class, its state (stage and parity) kept instead of computed.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int B = 128, Z = 64, Depth = 3, Workers = 8, Threads = 32 * (Workers + 1);

struct Slot {
  bf16 m[B][Z];
  bf16 n[2][Z][Z];
};

struct Shared {
  Slot slot[Depth];
  uint64_t ready[Depth], free[Depth];
};

struct Cursor {
  int at = 0, parity = 0;
  __device__ void next() {
    if (++at == Depth) {
      at = 0;
      parity ^= 1;
    }
  }
};

// Element (r, c) of a box, c a multiple of 8, as the engine has shuffled it.
__device__ const bf16* cell(const bf16 (*box)[Z], int r, int c) {
  return box[r] + (((c >> 3) ^ (r & 7)) << 3);
}

__device__ void produce(Shared& sh, const CUtensorMap* a, const CUtensorMap* b, int y, int x,
                        int steps) {
  Cursor cur;
  for (int n = 0; n < steps; ++n, cur.next()) {
    if (n >= Depth) wait_for_phase(&sh.free[cur.at], cur.parity ^ 1);
    uint64_t* bell = &sh.ready[cur.at];
    Slot& slot = sh.slot[cur.at];
    arrive_and_expect(bell, sizeof(slot.m) + sizeof(slot.n));
    copy_box(slot.m, a, n * Z, y, bell);
    copy_box(slot.n[0], b, x, n * Z, bell);
    copy_box(slot.n[1], b, x + Z, n * Z, bell);
  }
}

__device__ void consume(float (&acc)[4][4][4], const Slot& slot, int wy, int wx, int lane) {
  const int r16 = lane & 15, c8 = lane >> 4 << 3;
  const bf16(*box)[Z] = slot.n[wx / Z];
  for (int i = 0; i < Z; i += 16) {
    uint32_t b[2][4];
    for (int c = 0; c < 2; ++c) {
      load_matrices_transposed(b[c], cell(box, i + r16, wx % Z + 16 * c + c8));
    }
    for (int r = 0; r < 4; ++r) {
      uint32_t a[4];
      load_matrices(a, cell(slot.m, wy + 16 * r + r16, i + c8));
      for (int c = 0; c < 4; ++c) multiply_add(acc[r][c], a, &b[c >> 1][(c & 1) * 2]);
    }
  }
}

__global__ void __launch_bounds__(Threads, 2)
    ringed(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* P,
           int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& sh = *reinterpret_cast<Shared*>(raw);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int y = blockIdx.y * B, x = blockIdx.x * B;
  const int steps = (k + Z - 1) / Z;

  if (threadIdx.x == 0) {
    for (auto& bar : sh.ready) init_barrier(&bar, 1);
    for (auto& bar : sh.free) init_barrier(&bar, Workers);
    publish_barriers();
  }
  __syncthreads();

  if (warp == Workers) {
    if (lane == 0) produce(sh, &a, &b, y, x, steps);
    return;
  }

  const int wy = warp % 2 * 64, wx = warp / 2 * 32;
  float acc[4][4][4] = {};
  Cursor cur;
  for (int n = 0; n < steps; ++n) {
    wait_for_phase(&sh.ready[cur.at], cur.parity);
    consume(acc, sh.slot[cur.at], wy, wx, lane);
    __syncwarp();
    if (lane == 0) arrive(&sh.free[cur.at]);
    cur.next();
  }

  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c)
      store_sums(P, j, l, y + wy + 16 * r, x + wx + 8 * c, acc[r][c]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int pm = (k + 7) & ~7, pn = (l + 7) & ~7;
  bf16* m = rounded(M, j, k, pm);
  bf16* n = rounded(N, k, l, pn);
  const CUtensorMap mapM = make_map(m, k, j, pm, Z, B);
  const CUtensorMap mapN = make_map(n, l, k, pn, Z, Z);

  CHECK(cudaFuncSetAttribute(ringed, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)sizeof(Shared)));
  const dim3 grid((l + B - 1) / B, (j + B - 1) / B);
  ringed<<<grid, Threads, sizeof(Shared)>>>(mapM, mapN, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m));
  CHECK(cudaFree(n));
}
