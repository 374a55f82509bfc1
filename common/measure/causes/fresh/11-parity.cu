// The copy engine, written as CUTLASS does it: a cursor (stage, parity) for each side of the ring.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using elem = __nv_bfloat16;

constexpr int TILE = 128, KSTEP = 64, BOXW = 64, DEPTH = 3;
constexpr int NWARPS = 8;                      // that multiply
constexpr int BLOCK_THREADS = 32 + 32 * NWARPS;  // warp 0 asks, the others multiply

struct Buffers {
  elem m[DEPTH][TILE][BOXW];
  elem n[DEPTH][TILE / BOXW][KSTEP][BOXW];
  uint64_t ready[DEPTH];
  uint64_t drained[DEPTH];
};
constexpr int BYTES_PER_STAGE = (TILE * KSTEP + KSTEP * TILE) * sizeof(elem);

struct Cursor {
  int stage = 0;
  int parity;
  __device__ explicit Cursor(int p) : parity(p) {}
  __device__ void next() {
    if (++stage == DEPTH) {
      stage = 0;
      parity ^= 1;
    }
  }
};

__device__ const elem* in_box(const elem (*box)[BOXW], int r, int c) {
  return box[r] + ((c >> 3) ^ (r & 7)) * 8;
}

__device__ void produce(Buffers& buf, const CUtensorMap* mm, const CUtensorMap* mn, int steps,
                        int row0, int col0) {
  Cursor at(1);  // the phase before the first counts as over
  for (int step = 0; step < steps; ++step, at.next()) {
    uint64_t* bar = &buf.ready[at.stage];
    wait_for_phase(&buf.drained[at.stage], at.parity);
    arrive_and_expect(bar, BYTES_PER_STAGE);
    copy_box(buf.m[at.stage], mm, step * KSTEP, row0, bar);
    copy_box(buf.n[at.stage][0], mn, col0, step * KSTEP, bar);
    copy_box(buf.n[at.stage][1], mn, col0 + BOXW, step * KSTEP, bar);
  }
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    engine(const __grid_constant__ CUtensorMap mm, const __grid_constant__ CUtensorMap mn, float* P,
           int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Buffers& buf = *reinterpret_cast<Buffers*>(raw);
  const int lane = threadIdx.x & 31;
  const int worker = threadIdx.x / 32 - 1;  // -1: the one that asks
  const int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  const int steps = ceil_div(k, KSTEP);

  if (threadIdx.x == 0) {
    for (auto& bar : buf.ready) init_barrier(&bar, 1);
    for (auto& bar : buf.drained) init_barrier(&bar, NWARPS);
    publish_barriers();
  }
  __syncthreads();

  if (worker < 0) {
    if (lane == 0) produce(buf, &mm, &mn, steps, row0, col0);
    return;
  }

  const int wr = (worker & 1) * 64, wc = (worker >> 1) * 32;
  const int lr = lane % 16, lc = lane / 16 * 8;
  float acc[4][4][4] = {};
  Cursor at(0);
  for (int step = 0; step < steps; ++step, at.next()) {
    wait_for_phase(&buf.ready[at.stage], at.parity);
    for (int d = 0; d < KSTEP; d += 16) {
      uint32_t a[4][4], b[2][4];
      for (int q = 0; q < 4; ++q)
        load_matrices(a[q], in_box(buf.m[at.stage], wr + 16 * q + lr, d + lc));
      for (int q = 0; q < 2; ++q) {
        const int c = wc + 16 * q + lc;
        load_matrices_transposed(b[q], in_box(buf.n[at.stage][c / BOXW], d + lr, c % BOXW));
      }
      for (int q = 0; q < 16; ++q) {
        const int r = q / 4, c = q % 4;
        multiply_add(acc[r][c], a[r], &b[c / 2][2 * (c % 2)]);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&buf.drained[at.stage]);
  }

  for (int q = 0; q < 16; ++q)
    store_sums(P, j, l, row0 + wr + q / 4 * 16, col0 + wc + q % 4 * 8, acc[q / 4][q % 4]);
}

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int ldm = round_up(k, 8), ldn = round_up(l, 8);
  elem* m16 = rounded(M, j, k, ldm);
  elem* n16 = rounded(N, k, l, ldn);
  const CUtensorMap mm = make_map(m16, k, j, ldm, BOXW, TILE);
  const CUtensorMap mn = make_map(n16, l, k, ldn, BOXW, KSTEP);

  const int smem = sizeof(Buffers);
  CHECK(cudaFuncSetAttribute(engine, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
  const dim3 grid(ceil_div(l, TILE), ceil_div(j, TILE));
  engine<<<grid, BLOCK_THREADS, smem>>>(mm, mn, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m16));
  CHECK(cudaFree(n16));
}
