// Lab 11: the producer is warp 0, both sides walk round the ring with a cursor of their own.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;

constexpr int SIDE = 128;     // of the block's part of P
constexpr int SLAB = 64;      // of k in a phase, and columns of a box
constexpr int SEATS = 3;
constexpr int TEAM = 8;       // warps that multiply
constexpr int WARP_H = 32, WARP_W = 64;
constexpr int NA = WARP_H / 16, NB = WARP_W / 8;

struct Seat {
  bf16 a[SIDE * SLAB];
  bf16 left[SLAB * SLAB];   // columns 0..63 of N's tile
  bf16 right[SLAB * SLAB];  // 64..127
};
struct Carousel {
  Seat seats[SEATS];
  uint64_t loaded[SEATS];
  uint64_t freed[SEATS];
};

struct Cursor {
  int seat = 0;
  int parity = 0;
  __device__ void step() {
    if (++seat == SEATS) {
      seat = 0;
      parity ^= 1;
    }
  }
};

__device__ const bf16* find(const bf16* box, int r, int c) {
  const int chunk = (c >> 3) ^ (r & 7);
  return box + r * SLAB + (chunk << 3);
}

__device__ void produce(Carousel& car, const CUtensorMap* ma, const CUtensorMap* mb, int row,
                        int col, int k) {
  Cursor cur;
  for (int k0 = 0; k0 < k; k0 += SLAB, cur.step()) {
    Seat& seat = car.seats[cur.seat];
    uint64_t* bar = &car.loaded[cur.seat];
    if (k0 >= SEATS * SLAB) wait_for_phase(&car.freed[cur.seat], cur.parity ^ 1);
    arrive_and_expect(bar, sizeof seat.a + sizeof seat.left + sizeof seat.right);
    copy_box(seat.a, ma, k0, row, bar);
    copy_box(seat.left, mb, col, k0, bar);
    copy_box(seat.right, mb, col + SLAB, k0, bar);
  }
}

__global__ void __launch_bounds__(32 * (TEAM + 1), 2)
    carousel(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb,
             float* P, int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Carousel& car = *reinterpret_cast<Carousel*>(raw);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE;

  if (threadIdx.x == 0) {
    for (int s = 0; s < SEATS; ++s) init_barrier(&car.loaded[s], 1);
    for (int s = 0; s < SEATS; ++s) init_barrier(&car.freed[s], TEAM);
    publish_barriers();
  }
  __syncthreads();

  if (warp == 0) {
    if (lane == 0) produce(car, &ma, &mb, row, col, k);
    return;
  }

  const int member = warp - 1;
  const int wr = member / 2 * WARP_H;  // 0, 32, 64, 96
  const int wc = member % 2 * WARP_W;  // 0: the left box, 64: the right one
  const int lr = lane % 16, lc = lane / 16 * 8;

  float sum[NA][NB][4] = {};
  Cursor cur;
  for (int left = k; left > 0; left -= SLAB) {
    const Seat& seat = car.seats[cur.seat];
    const bf16* n_box = wc == 0 ? seat.left : seat.right;
    wait_for_phase(&car.loaded[cur.seat], cur.parity);
#pragma unroll
    for (int i = 0; i < SLAB; i += 16) {
      uint32_t a[NA][4];
#pragma unroll
      for (int y = 0; y < NA; ++y) load_matrices(a[y], find(seat.a, wr + 16 * y + lr, i + lc));
#pragma unroll
      for (int x = 0; x < NB / 2; ++x) {
        uint32_t b[4];
        load_matrices_transposed(b, find(n_box, i + lr, 16 * x + lc));
#pragma unroll
        for (int y = 0; y < NA; ++y) {
          multiply_add(sum[y][2 * x], a[y], &b[0]);
          multiply_add(sum[y][2 * x + 1], a[y], &b[2]);
        }
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&car.freed[cur.seat]);
    cur.step();
  }

#pragma unroll
  for (int y = 0; y < NA; ++y) {
#pragma unroll
    for (int x = 0; x < NB; ++x) {
      store_sums(P, j, l, row + wr + 16 * y, col + wc + 8 * x, sum[y][x]);
    }
  }
}

static int multiple_of_8(int n) { return (n + 7) & ~7; }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int pa = multiple_of_8(k), pb = multiple_of_8(l);
  bf16* a = rounded(M, j, k, pa);
  bf16* b = rounded(N, k, l, pb);
  const CUtensorMap ma = make_map(a, k, j, pa, SLAB, SIDE);
  const CUtensorMap mb = make_map(b, l, k, pb, SLAB, SLAB);

  const size_t room = sizeof(Carousel);
  CHECK(cudaFuncSetAttribute(carousel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(room)));
  const dim3 grid((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE);
  carousel<<<grid, 32 * (TEAM + 1), room>>>(ma, mb, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
}
