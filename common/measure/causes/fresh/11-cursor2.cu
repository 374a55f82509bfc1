#include "check.h"
#include "copy_engine.h"
#include "product_parts.h"
#include "tensor.h"

typedef __nv_bfloat16 bf;

enum { SIDE = 128, DEEP = 64, SLOTS = 3, WORKERS = 8, ALL = 32 * (WORKERS + 1) };

struct Slot {
  bf m[SIDE][DEEP];
  bf n0[DEEP][64];  // left half of the 128 columns
  bf n1[DEEP][64];  // right half
};

struct Memory {
  Slot slots[SLOTS];
  uint64_t arrived[SLOTS];
  uint64_t released[SLOTS];
};

// Walks round the ring; lap is the parity of the round.
struct Cursor {
  int slot = 0, lap = 0;
  __device__ void next() {
    if (++slot == SLOTS) {
      slot = 0;
      lap ^= 1;
    }
  }
};

__device__ const bf* find(const bf* box, int row, int col) {
  return box + row * 64 + ((col >> 3 ^ (row & 7)) << 3);
}

__device__ void produce(Memory& mem, const CUtensorMap* mm, const CUtensorMap* mn, int y, int x, int k) {
  Cursor at;
  bool first_round = true;
  for (int z = 0; z < k; z += DEEP) {
    uint64_t* bar = &mem.arrived[at.slot];
    if (!first_round) wait_for_phase(&mem.released[at.slot], at.lap ^ 1);
    arrive_and_expect(bar, sizeof(Slot));
    Slot& slot = mem.slots[at.slot];
    copy_box(slot.m, mm, z, y, bar);
    copy_box(slot.n0, mn, x, z, bar);
    copy_box(slot.n1, mn, x + 64, z, bar);
    at.next();
    if (at.slot == 0) first_round = false;
  }
}

__device__ void consume(Memory& mem, float (&acc)[4][4][4], int wy, int wx, int lane, int k) {
  Cursor at;
  const int half = wx & 63;
  for (int z = 0; z < k; z += DEEP) {
    wait_for_phase(&mem.arrived[at.slot], at.lap);
    const Slot& slot = mem.slots[at.slot];
    const bf* n = wx < 64 ? &slot.n0[0][0] : &slot.n1[0][0];
    for (int i = 0; i < DEEP; i += 16) {
      const int r = lane & 15, c = lane >> 4 << 3;
      uint32_t b[2][4];
      load_matrices_transposed(b[0], find(n, i + r, half + c));
      load_matrices_transposed(b[1], find(n, i + r, half + 16 + c));
      for (int v = 0; v < 4; ++v) {
        uint32_t a[4];
        load_matrices(a, find(&slot.m[0][0], wy + 16 * v + r, i + c));
        for (int u = 0; u < 4; ++u) multiply_add(acc[v][u], a, &b[u >> 1][2 * (u & 1)]);
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&mem.released[at.slot]);
    at.next();
  }
}

__global__ void __launch_bounds__(ALL, 2)
    ring_kernel(const __grid_constant__ CUtensorMap mm, const __grid_constant__ CUtensorMap mn, float* P,
                int j, int k, int l) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Memory& mem = *reinterpret_cast<Memory*>(raw);
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int y = blockIdx.y * SIDE, x = blockIdx.x * SIDE;

  if (threadIdx.x == 0) {
    for (int s = 0; s < SLOTS; ++s) init_barrier(&mem.arrived[s], 1);
    for (int s = 0; s < SLOTS; ++s) init_barrier(&mem.released[s], WORKERS);
    publish_barriers();
  }
  __syncthreads();

  if (warp == WORKERS) {
    if (lane == 0) produce(mem, &mm, &mn, y, x, k);
  } else {
    const int wy = warp / 4 * 64, wx = warp % 4 * 32;
    float acc[4][4][4] = {};
    consume(mem, acc, wy, wx, lane, k);
    for (int v = 0; v < 4; ++v) {
      for (int u = 0; u < 4; ++u) store_sums(P, j, l, y + wy + 16 * v, x + wx + 8 * u, acc[v][u]);
    }
  }
}

static int round_up(int n, int to) { return (n + to - 1) / to * to; }

struct Rounded {  // a bf16 copy with its map
  bf* data;
  CUtensorMap map;
  Rounded(const float* from, int rows, int cols, int box_rows) {
    int pitch = round_up(cols, 8);
    data = rounded(from, rows, cols, pitch);
    map = make_map(data, cols, rows, pitch, 64, box_rows);
  }
  ~Rounded() { cudaFree(data); }
};

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Rounded m(M, j, k, SIDE), n(N, k, l, DEEP);
  CHECK(cudaFuncSetAttribute(ring_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(sizeof(Memory))));
  dim3 grid(round_up(l, SIDE) / SIDE, round_up(j, SIDE) / SIDE);
  ring_kernel<<<grid, ALL, sizeof(Memory)>>>(m.map, n.map, P, j, k, l);
  CHECK(cudaGetLastError());
}
