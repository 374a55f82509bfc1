// Lab 11: a ring as in a network card: slot and parity walk together, and flip when they wrap.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

typedef __nv_bfloat16 b16;

constexpr int EDGE = 128, DEEP = 64, SLOTS = 4;
constexpr int READERS = 8, TPB = 32 * (1 + READERS);

struct Slot {
  b16 m[EDGE][DEEP];
  b16 n[2][DEEP][DEEP];
};

struct Queue {
  Slot slot[SLOTS];
  uint64_t ready[SLOTS];
  uint64_t vacant[SLOTS];
};

struct Cursor {
  int at = 0, parity = 0;
  __device__ void next() {
    if (++at == SLOTS) {
      at = 0;
      parity ^= 1;
    }
  }
};

__device__ const b16* peek(const b16 (&box)[DEEP][DEEP], int r, int c) {
  return &box[r][c ^ (r & 7) << 3];
}
__device__ const b16* peek(const b16 (&box)[EDGE][DEEP], int r, int c) {
  return &box[r][c ^ (r & 7) << 3];
}

__device__ void send(Queue& q, const CUtensorMap& mm, const CUtensorMap& mn, int y0, int x0, int k) {
  Cursor cur;
  bool first_lap = true;
  for (int z = 0; z < k; z += DEEP) {
    Slot& s = q.slot[cur.at];
    uint64_t* bell = &q.ready[cur.at];
    if (!first_lap) wait_for_phase(&q.vacant[cur.at], cur.parity ^ 1);
    arrive_and_expect(bell, sizeof(s.m) + sizeof(s.n));
    copy_box(s.m, &mm, z, y0, bell);
    copy_box(s.n[0], &mn, x0, z, bell);
    copy_box(s.n[1], &mn, x0 + DEEP, z, bell);
    cur.next();
    if (cur.at == 0) first_lap = false;
  }
}

__global__ void __launch_bounds__(TPB) exchange(const __grid_constant__ CUtensorMap mm,
                                                const __grid_constant__ CUtensorMap mn, float* P,
                                                int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Queue& q = *reinterpret_cast<Queue*>(raw);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int y0 = blockIdx.y * EDGE, x0 = blockIdx.x * EDGE;

  if (threadIdx.x == 0) {
    for (int s = 0; s < SLOTS; s++) {
      init_barrier(&q.ready[s], 1);
      init_barrier(&q.vacant[s], READERS);
    }
    publish_barriers();
  }
  __syncthreads();

  if (warp == READERS) {
    if (lane == 0) send(q, mm, mn, y0, x0, k);
    return;
  }

  const int wy = (warp & 3) * 32, half = warp >> 2;
  const int lr = lane % 16, lc = lane / 16 * 8;
  float acc[2][8][4] = {};
  Cursor cur;
  for (int z = 0; z < k; z += DEEP) {
    const Slot& s = q.slot[cur.at];
    wait_for_phase(&q.ready[cur.at], cur.parity);
    for (int i = 0; i < DEEP; i += 16) {
      uint32_t a[2][4], b[4];
      load_matrices(a[0], peek(s.m, wy + lr, i + lc));
      load_matrices(a[1], peek(s.m, wy + 16 + lr, i + lc));
#pragma unroll
      for (int c = 0; c < 4; c++) {
        load_matrices_transposed(b, peek(s.n[half], i + lr, 16 * c + lc));
        for (int r = 0; r < 2; r++) {
          multiply_add(acc[r][2 * c], a[r], &b[0]);
          multiply_add(acc[r][2 * c + 1], a[r], &b[2]);
        }
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&q.vacant[cur.at]);
    cur.next();
  }

#pragma unroll
  for (int r = 0; r < 2; r++)
#pragma unroll
    for (int c = 0; c < 8; c++) store_sums(P, j, l, y0 + wy + 16 * r, x0 + 64 * half + 8 * c, acc[r][c]);
}

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int pm = round_up(k, 8), pn = round_up(l, 8);
  b16* m = rounded(M, j, k, pm);
  b16* n = rounded(N, k, l, pn);
  CUtensorMap mm = make_map(m, k, j, pm, DEEP, EDGE);
  CUtensorMap mn = make_map(n, l, k, pn, DEEP, DEEP);
  CHECK(cudaFuncSetAttribute(exchange, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Queue)));
  dim3 grid(round_up(l, EDGE) / EDGE, round_up(j, EDGE) / EDGE);
  exchange<<<grid, TPB, sizeof(Queue)>>>(mm, mn, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m));
  CHECK(cudaFree(n));
}
