#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using elem = __nv_bfloat16;
constexpr int BLOCK = 128, DEPTH = 64, SLOTS = 4, WORKERS = 8;
constexpr int ALL_THREADS = 32 * (WORKERS + 1);

struct Slot {
  elem left[BLOCK][64];
  elem right[2][DEPTH][64];
};
struct Shared {
  Slot slot[SLOTS];
  uint64_t ready[SLOTS];
  uint64_t free_again[SLOTS];
};

// Which slot is next, and the parity of its round.
struct Cursor {
  int slot = 0;
  int round = 0;
  __device__ void advance() {
    if (++slot == SLOTS) {
      slot = 0;
      ++round;
    }
  }
};

__device__ const elem* locate(const elem (*box)[64], int r, int c) {
  return box[r] + (((c >> 3) ^ (r & 7)) << 3);
}

__device__ void produce(Shared& sh, const CUtensorMap* ma, const CUtensorMap* mb, int y0, int x0,
                        int phases) {
  Cursor at;
  for (int ph = 0; ph < phases; ++ph) {
    uint64_t* ready = &sh.ready[at.slot];
    Slot& s = sh.slot[at.slot];
    if (at.round > 0) wait_for_phase(&sh.free_again[at.slot], (at.round + 1) & 1);
    arrive_and_expect(ready, sizeof(s.left) + sizeof(s.right));
    copy_box(s.left, ma, ph * DEPTH, y0, ready);
    copy_box(s.right[0], mb, x0, ph * DEPTH, ready);
    copy_box(s.right[1], mb, x0 + 64, ph * DEPTH, ready);
    at.advance();
  }
}

__global__ void __launch_bounds__(ALL_THREADS)
    ringed(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb,
           float* P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& sh = *reinterpret_cast<Shared*>(raw);
  const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int y0 = blockIdx.y * BLOCK, x0 = blockIdx.x * BLOCK;
  const int phases = (k + DEPTH - 1) / DEPTH;

  if (threadIdx.x == 0) {
    for (auto& b : sh.ready) init_barrier(&b, 1);
    for (auto& b : sh.free_again) init_barrier(&b, WORKERS);
    publish_barriers();
  }
  __syncthreads();

  if (w == WORKERS) {
    if (lane == 0) produce(sh, &ma, &mb, y0, x0, phases);
    return;
  }

  const int wy = w / 4 * 64, wx = w % 4 * 32;
  const int lr = lane % 16, lc = lane / 16 * 8;
  float acc[4][4][4] = {};
  Cursor at;
  for (int ph = 0; ph < phases; ++ph, at.advance()) {
    const Slot& s = sh.slot[at.slot];
    wait_for_phase(&sh.ready[at.slot], at.round & 1);
    const elem(*half)[64] = s.right[wx / 64];
    for (int i = 0; i < DEPTH; i += 16) {
      uint32_t b[2][4];
      for (int c = 0; c < 2; ++c)
        load_matrices_transposed(b[c], locate(half, i + lr, wx % 64 + 16 * c + lc));
      for (int r = 0; r < 4; ++r) {
        uint32_t a[4];
        load_matrices(a, locate(s.left, wy + 16 * r + lr, i + lc));
        multiply_add(acc[r][0], a, &b[0][0]);
        multiply_add(acc[r][1], a, &b[0][2]);
        multiply_add(acc[r][2], a, &b[1][0]);
        multiply_add(acc[r][3], a, &b[1][2]);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&sh.free_again[at.slot]);
  }
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c)
      store_sums(P, j, l, y0 + wy + 16 * r, x0 + wx + 8 * c, acc[r][c]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int pm = (k + 7) & ~7;
  const int pn = (l + 7) & ~7;
  elem* m16 = rounded(M, j, k, pm);
  elem* n16 = rounded(N, k, l, pn);
  const CUtensorMap ma = make_map(m16, k, j, pm, 64, BLOCK);
  const CUtensorMap mb = make_map(n16, l, k, pn, 64, DEPTH);
  const dim3 grid((l + BLOCK - 1) / BLOCK, (j + BLOCK - 1) / BLOCK);
  const int need = int(sizeof(Shared));
  CHECK(cudaFuncSetAttribute(ringed, cudaFuncAttributeMaxDynamicSharedMemorySize, need));
  ringed<<<grid, ALL_THREADS, need>>>(ma, mb, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m16));
  CHECK(cudaFree(n16));
}
