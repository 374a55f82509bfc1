// The postman (warp 0) brings parcels, eight workers (warps 1 to 8) unpack them.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int SIDE = 128, DEEP = 64, SLOTS = 3, WORKERS = 8;

struct Parcel {
  bf16 left[SIDE][DEEP];
  bf16 right[2][DEEP][64];
};
struct Office {
  Parcel parcel[SLOTS];
  uint64_t here[SLOTS];
  uint64_t gone[SLOTS];
};

// A slot and the parity of the round: walks round the ring.
struct Cursor {
  int slot = 0, parity = 0;
  __device__ void next() {
    if (++slot == SLOTS) {
      slot = 0;
      parity ^= 1;
    }
  }
};

__device__ const bf16* find(const bf16 (*box)[64], int row, int col) {
  return box[row] + ((col >> 3) ^ (row & 7)) * 8;
}

__device__ void postman(Office& o, const CUtensorMap& mm, const CUtensorMap& mn, int row, int col,
                        int phases) {
  Cursor at;
  for (int ph = 0; ph < phases; ++ph, at.next()) {
    if (ph >= SLOTS) wait_for_phase(&o.gone[at.slot], at.parity ^ 1);
    uint64_t* bell = &o.here[at.slot];
    Parcel& p = o.parcel[at.slot];
    arrive_and_expect(bell, sizeof(p.left) + sizeof(p.right));
    copy_box(p.left, &mm, ph * DEEP, row, bell);
    copy_box(p.right[0], &mn, col, ph * DEEP, bell);
    copy_box(p.right[1], &mn, col + 64, ph * DEEP, bell);
  }
}

__global__ void __launch_bounds__(32 * (WORKERS + 1), 2)
    office_kernel(const __grid_constant__ CUtensorMap mm, const __grid_constant__ CUtensorMap mn,
                  float* P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Office& o = *reinterpret_cast<Office*>(raw);
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
  int phases = (k + DEEP - 1) / DEEP;

  if (threadIdx.x == 0) {
    for (auto& b : o.here) init_barrier(&b, 1);
    for (auto& b : o.gone) init_barrier(&b, WORKERS);
    publish_barriers();
  }
  __syncthreads();

  if (warp == 0) {
    if (lane == 0) postman(o, mm, mn, row0, col0, phases);
    return;
  }

  int worker = warp - 1;
  int wr = worker % 2 * 64, wc = worker / 2 * 32;
  int box = wc / 64, in_box = wc % 64;
  int lr = lane % 16, lc = lane / 16 * 8;
  float sum[4][4][4] = {};
  Cursor at;
  for (int ph = 0; ph < phases; ++ph, at.next()) {
    const Parcel& p = o.parcel[at.slot];
    wait_for_phase(&o.here[at.slot], at.parity);
    for (int i = 0; i < DEEP; i += 16) {
      uint32_t a[4], b[2][4];
      load_matrices_transposed(b[0], find(p.right[box], i + lr, in_box + lc));
      load_matrices_transposed(b[1], find(p.right[box], i + lr, in_box + 16 + lc));
      for (int r = 0; r < 4; ++r) {
        load_matrices(a, find(p.left, wr + 16 * r + lr, i + lc));
        for (int c = 0; c < 4; ++c) multiply_add(sum[r][c], a, b[c >> 1] + (c & 1) * 2);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&o.gone[at.slot]);
  }
  for (int rc = 0; rc < 16; ++rc) {
    store_sums(P, j, l, row0 + wr + rc / 4 * 16, col0 + wc + rc % 4 * 8, sum[rc / 4][rc % 4]);
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto up8 = [](int n) { return (n + 7) & ~7; };
  int pm = up8(k), pn = up8(l);
  bf16* m = rounded(M, j, k, pm);
  bf16* n = rounded(N, k, l, pn);
  CUtensorMap mm = make_map(m, k, j, pm, DEEP, SIDE);
  CUtensorMap mn = make_map(n, l, k, pn, 64, DEEP);

  size_t need = sizeof(Office);
  CHECK(cudaFuncSetAttribute(office_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(need)));
  dim3 grid((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE);
  office_kernel<<<grid, 32 * (WORKERS + 1), need>>>(mm, mn, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m));
  CHECK(cudaFree(n));
}
