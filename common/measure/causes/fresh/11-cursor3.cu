// Lab 11: warp 0 produces, a cursor walks round the ring and flips its parity at the end.
#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

using elem = __nv_bfloat16;

constexpr int TM = 128, TN = 128, TK = 64;
constexpr int DEPTH = 3;
constexpr int WORKERS = 8;
constexpr int LAUNCH = 32 * (1 + WORKERS);

struct Slot {
  elem m[TM][TK];
  elem left[TK][64], right[TK][64];  // columns 0..63 and 64..127 of the tile of N
};

struct Pool {
  Slot slot[DEPTH];
  uint64_t ready[DEPTH];
  uint64_t spare[DEPTH];
};

struct Cursor {
  int index = 0;
  int parity = 0;
  __device__ void advance() {
    if (++index == DEPTH) {
      index = 0;
      parity ^= 1;
    }
  }
};

// 16 bytes of row r, beginning with column c
__device__ const elem* look(const elem (*box)[64], int r, int c) {
  const int chunk = (c >> 3) ^ (r & 7);
  return box[r] + (chunk << 3);
}

__device__ void produce(Pool& pool, const CUtensorMap* mm, const CUtensorMap* mn, int k) {
  Cursor cur;
  const int y = blockIdx.y * TM, x = blockIdx.x * TN;
  for (int z = 0; z < k; z += TK) {
    Slot& s = pool.slot[cur.index];
    uint64_t* bar = &pool.ready[cur.index];
    wait_for_phase(&pool.spare[cur.index], cur.parity ^ 1);  // first time round: already over
    arrive_and_expect(bar, sizeof(Slot));
    copy_box(s.m, mm, z, y, bar);
    copy_box(s.left, mn, x, z, bar);
    copy_box(s.right, mn, x + 64, z, bar);
    cur.advance();
  }
}

__device__ void step16(const Slot& s, int wy, int wx, int lane, int i, float (*acc)[4][4]) {
  const int a = lane & 15, b = lane >> 4 << 3;
  const elem (*half)[64] = wx < 64 ? s.left : s.right;
  uint32_t fn[2][4], fm[4];
  for (int c = 0; c < 2; ++c) {
    load_matrices_transposed(fn[c], look(half, i + a, (wx & 63) + 16 * c + b));
  }
  for (int r = 0; r < 4; ++r) {
    load_matrices(fm, look(s.m, wy + 16 * r + a, i + b));
    for (int c = 0; c < 4; ++c) multiply_add(acc[r][c], fm, &fn[c >> 1][(c & 1) << 1]);
  }
}

__global__ void __launch_bounds__(LAUNCH, 2)
    engine(const __grid_constant__ CUtensorMap mm, const __grid_constant__ CUtensorMap mn, float* P,
           int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Pool& pool = *reinterpret_cast<Pool*>(raw);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;

  if (threadIdx.x == 0) {
    for (int d = 0; d < DEPTH; ++d) init_barrier(&pool.ready[d], 1);
    for (int d = 0; d < DEPTH; ++d) init_barrier(&pool.spare[d], WORKERS);
    publish_barriers();
  }
  __syncthreads();

  if (warp == 0) {
    if (lane == 0) produce(pool, &mm, &mn, k);
    return;
  }

  const int worker = warp - 1;
  const int wy = (worker >> 2) * 64, wx = (worker & 3) * 32;
  float acc[4][4][4] = {};
  Cursor cur;
  for (int z = 0; z < k; z += TK) {
    wait_for_phase(&pool.ready[cur.index], cur.parity);
    for (int i = 0; i < TK; i += 16) step16(pool.slot[cur.index], wy, wx, lane, i, acc);
    __syncwarp();
    if (lane == 0) arrive(&pool.spare[cur.index]);
    cur.advance();
  }

  for (int q = 0; q < 16; ++q) {
    const int r = q >> 2, c = q & 3;
    store_sums(P, j, l, blockIdx.y * TM + wy + 16 * r, blockIdx.x * TN + wx + 8 * c, acc[r][c]);
  }
}

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int pm = round_up(k, 8), pn = round_up(l, 8);
  elem* m16 = rounded(M, j, k, pm);
  elem* n16 = rounded(N, k, l, pn);
  CUtensorMap mm = make_map(m16, k, j, pm, TK, TM);
  CUtensorMap mn = make_map(n16, l, k, pn, 64, TK);

  const int bytes = sizeof(Pool);
  CHECK(cudaFuncSetAttribute(engine, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  dim3 grid(round_up(l, TN) / TN, round_up(j, TM) / TM);
  engine<<<grid, LAUNCH, bytes>>>(mm, mn, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(m16));
  CHECK(cudaFree(n16));
}
