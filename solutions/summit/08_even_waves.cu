// Rung 08, even waves: the tiles that do not fill a whole wave are shared out along k.
//
// 4096 x 4096 results are 512 tiles; 132 multiprocessors compute them in 3.88 waves that take the
// time of 4. Here whole waves keep one tile per block, and the stages of the remaining tiles, laid
// end to end, are cut into equal shares, one per multiprocessor. A share may end inside a tile;
// then each of that tile's blocks leaves its part in scratch memory, and the parts are added in
// order of k, so the result does not depend on timing: by the last block to finish; or, where a
// small product has no whole wave and every tile is cut into equally many parts, by all of the
// tile's blocks together.
// New against rung 07: which block computes what, the addition of parts, and tiles taken in a
// near-square order so that blocks in flight share rows of M and columns of N in the L2 cache.
#include "common/straight_loop.cuh"
#include "common/summit.h"
#include "even_waves.h"

using namespace summit;

namespace {

constexpr int GROUP = 2048 / BM;    // tile rows of P that are taken together
constexpr int QUADS = BM * BN / 4;  // 16-byte groups of a tile
constexpr int IN_FLIGHT = 8;        // of them a thread adds at a time

// A block's share, in stages of all tiles laid end to end: what is left of it is [next, end).
struct Share {
  int next, end;
};

// Blocks 0..whole_tiles-1 take a tile each; the `shares` blocks after them divide the rest.
__device__ Share share_of_block(int j, int k, int l, int whole_tiles, int shares) {
  int stages = ceil_div(k, BK), block = blockIdx.x;
  if (block < whole_tiles) return {block * stages, (block + 1) * stages};
  int tiles = ceil_div(j, BM) * ceil_div(l, BN), first = whole_tiles * stages;
  int total = (tiles - whole_tiles) * stages;
  return {first + share_begin(block - whole_tiles, total, shares),
          first + share_begin(block - whole_tiles + 1, total, shares)};
}

// One piece of work: stages [first, first + stages) of a tile.
struct Job {
  int row, col;       // of the tile's first result in P
  int first, stages;  // in the tile, 0..stages per tile
  int tile;
};

// Takes the next job off the share, which must not be empty.
__device__ Job take_job(Share& share, int j, int k, int l) {
  j = anew(j), k = anew(k), l = anew(l);
  int stages = ceil_div(k, BK), tile_rows = ceil_div(j, BM), tile_columns = ceil_div(l, BN);
  Job job;
  job.tile = share.next / stages;
  job.first = share.next % stages;
  job.stages = min(share.end - share.next, stages - job.first);
  // Tiles are numbered down GROUP rows, then one column on.
  int group = job.tile / (GROUP * tile_columns) * GROUP, height = min(GROUP, tile_rows - group);
  int in_group = job.tile - group * tile_columns;
  job.row = (group + in_group % height) * BM;
  job.col = in_group / height * BN;
  share.next += job.stages;
  return job;
}

// What the consumers keep in shared memory, behind the ring: the main loop needs every register.
struct Desk {
  Share share;
  Job job;
  int arrived;  // parts of this tile that were ready before this one
};

// A barrier for the consumers alone; number 0 is __syncthreads.
__device__ __forceinline__ void sync_consumers() {
  asm volatile("bar.sync 1, %0;" ::"n"(CONSUMERS) : "memory");
}

// The part of a tile that share `s` holds is at scratch + part_of(s, it begins the tile): a share
// has at most one part that begins a tile and one that does not.
__device__ size_t part_of(int s, bool begins) {
  return size_t(2 * s + begins) * BM * BN;
}

// The parts of one tile: shares first..last hold one each, in order of k.
struct Parts {
  int first, last;
  int tile_begin;  // stage at which the tile begins, of the shared stages
  int total;       // shared stages
  int shares;
};

// Adds the parts of 16-byte groups [begin, end) of a tile in order of k and stores them.
__device__ void add_parts(const Parts& parts, const float* scratch, float* P, int j, int l, int row,
                          int col, int begin, int end) {
#pragma unroll 1
  for (int e = begin + threadIdx.x; e < end; e += IN_FLIGHT * CONSUMERS) {
    float4 sum[IN_FLIGHT];
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) sum[q] = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int s = parts.first; s <= parts.last; ++s) {
      bool begins = share_begin(s, parts.total, parts.shares) <= parts.tile_begin;
      auto part = reinterpret_cast<const float4*>(scratch + part_of(s, begins)) + e;
#pragma unroll
      for (int q = 0; q < IN_FLIGHT; ++q) {
        if (e + q * CONSUMERS >= end) continue;
        float4 v = __ldcg(part + q * CONSUMERS);
        sum[q].x += v.x, sum[q].y += v.y, sum[q].z += v.z, sum[q].w += v.w;
      }
    }
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) {
      int at = e + q * CONSUMERS;
      if (at < end) store_row(P, row + at / (BN / 4), col + at % (BN / 4) * 4, j, l, &sum[q].x);
    }
  }
}

// Counts this block's part, waits for the tile's other parts, and lets the counter pair be used
// again: ready[0] counts parts, ready[1] blocks that have seen them all. Thread 0 only.
__device__ void meet(volatile unsigned* ready, unsigned parts) {
  atomicAdd(const_cast<unsigned*>(ready), 1u);
  while (ready[0] < parts) __nanosleep(40);
  if (atomicAdd(const_cast<unsigned*>(ready) + 1, 1u) == parts - 1) ready[0] = 0, ready[1] = 0;
}

// What the consumers do with a finished job: store the tile, or leave the part and see to the sum.
__device__ __forceinline__ void finish(const float (&sum)[TM][TN], volatile Desk& desk, float* P,
                                       int j, int k, int l, int whole_tiles, int shares,
                                       float* scratch, unsigned* ready) {
  // Read anew what the main loop has no registers to keep.
  Place place(thread_number());
  j = anew(j), k = anew(k), l = anew(l), whole_tiles = anew(whole_tiles), shares = anew(shares);
  int stages = ceil_div(k, BK), row = desk.job.row, col = desk.job.col;
  if (desk.job.stages == stages) {
    store_tile(P, row, col, place, j, l, sum);
    return;
  }
  int share = blockIdx.x - whole_tiles;
  float* part = scratch + part_of(share, desk.job.first == 0);
#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; c += 4)
      __stcg(reinterpret_cast<float4*>(part + (place.row + r * 8) * BN + place.col + c * 4),
             make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]));
  __threadfence();  // the part is visible before it is counted
  sync_consumers();

  int tile = desk.job.tile - whole_tiles;
  int shared_tiles = ceil_div(j, BM) * ceil_div(l, BN) - whole_tiles;
  Parts parts = {0, 0, tile * stages, shared_tiles * stages, shares};
  parts.first = share_of(parts.tile_begin, parts.total, shares);
  parts.last = share_of(parts.tile_begin + stages - 1, parts.total, shares);
  int count = parts.last - parts.first + 1;
  if (whole_tiles == 0 && shares % shared_tiles == 0) {
    // All blocks run at once (there is one per multiprocessor), so they can wait for each other.
    if (threadIdx.x == 0) meet(ready + 2 * tile, count);
    sync_consumers();
    __threadfence();
    int me = share - parts.first;
    add_parts(parts, scratch, P, j, l, row, col, QUADS * me / count, QUADS * (me + 1) / count);
    return;
  }
  if (threadIdx.x == 0) desk.arrived = atomicAdd(ready + 2 * tile, 1u);
  sync_consumers();
  if (desk.arrived != count - 1) return;  // a later block will find all parts there
  __threadfence();
  if (threadIdx.x == 0) ready[2 * tile] = 0;
  add_parts(parts, scratch, P, j, l, row, col, 0, QUADS);
}

}  // namespace

// ready[2 * t], [2 * t + 1]: counters of the t-th shared tile; zero before and after every launch.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    even_waves(const __grid_constant__ Maps maps, float* __restrict__ P, int j, int k, int l,
               int whole_tiles, int shares, float* __restrict__ scratch,
               unsigned* __restrict__ ready) {
  extern __shared__ __align__(1024) unsigned char shared[];
  Ring ring{shared_address(shared)};
  start_next_kernel();  // it waits for this one before it reads or writes what others may still use
  if (threadIdx.x == 0) ring.init();
  __syncthreads();  // the barriers exist; from here on the roles part for good

  Cursor cursor;
  if (threadIdx.x >= CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x != CONSUMERS) return;
    Share share = share_of_block(j, k, l, whole_tiles, shares);
    // The operands may still be being written, P and the scratch memory still be in use. The
    // consumers need not wait: they write nothing before the first data have arrived.
    wait_for_kernels_before();
    while (share.next < share.end) {
      Job job = take_job(share, j, k, l);
      produce(ring, cursor, maps, job.row, job.col, job.first * BK, job.stages);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    volatile Desk& desk = *reinterpret_cast<Desk*>(shared + STAGES * (STAGE_BYTES + 16));
    if (threadIdx.x == 0)
      const_cast<Desk&>(desk).share = share_of_block(j, k, l, whole_tiles, shares);
#pragma unroll 1
    do {
      if (threadIdx.x == 0) {
        Desk& own = const_cast<Desk&>(desk);
        own.job = take_job(own.share, j, k, l);
      }
      sync_consumers();  // the job is on the desk
      float sum[TM][TN];
      clear(sum);
      int stages = desk.job.stages;
      consume(ring, cursor, stages, last_stage_bytes(k, desk.job.first, stages), sum);
      finish(sum, desk, P, j, k, l, whole_tiles, shares, scratch, ready);
      sync_consumers();  // everyone has read the desk
    } while (desk.share.next < desk.share.end);
  }
}
