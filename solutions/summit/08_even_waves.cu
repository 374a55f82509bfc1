// Rung 08, even waves: the tiles that do not fill a whole wave are shared out along k.
//
// 4096 x 4096 results are 512 tiles; 132 multiprocessors compute them in 3.88 waves that take the
// time of 4. Here whole waves keep one tile per block, and the steps of k of the remaining tiles,
// laid end to end, are cut into equal shares, one per multiprocessor. A share may end inside a
// tile; then all but the last of that tile's blocks leave their parts in scratch memory, and the
// last, whose share holds the end of the tile, adds them to its own, in order of k, so the result
// does not depend on timing. Or, where a small product has no whole wave and every tile is cut into
// equally many parts, all leave their parts and each block of the tile adds up a piece of it.
// New against rung 07: which block computes what, the addition of parts, and tiles taken in a
// near-square order so that blocks in flight share rows of M and columns of N in the L2 cache.
//
// A block that waits for others must not hold up others that wait for it. A share with the end of
// one tile and the beginning of the next therefore leaves the beginning first, and waits last; and
// it only waits for blocks with lower numbers, which have started before it. (The other order made
// a chain: each block waited for the one before, which waited for the one before that.)
//
// A worker is what computes a share: the eight consumer warps of a block; or, compiled for tiles of
// 128 x 128 (SUMMIT_SLICES 2), each half of them, with a ring of stages of its own.
#include "common/straight_loop.cuh"
#include "common/summit.h"
#include "even_waves.h"

using namespace summit;

namespace {

constexpr int GROUP = 2048 / BM;    // tile rows of P that are taken together
constexpr int QUADS = BM * BN / 4;  // 16-byte groups of a tile
constexpr int IN_FLIGHT = 8;        // of them a thread adds at a time
constexpr int WORKERS = SLICES;     // of a block
constexpr int RING_BYTES = even_waves_ring_bytes(STAGES, STAGE_BYTES);

// A worker's share, in units of BLOCK_STEPS steps of k of the tiles from `tile` on, laid end to
// end: what is left of it is [next, end).
struct Share {
  int tile, next, end;
};

// Workers 0..whole_tiles-1 take a tile each; the `shares` workers after them divide the rest. The
// last block may have a worker too many.
__device__ Share share_of_worker(int worker, int j, int k, int l, int whole_tiles, int shares) {
  int units = ceil_div(k, BLOCK_STEPS);
  if (worker < whole_tiles) return {worker, 0, units};
  if (worker >= whole_tiles + shares) return {0, 0, 0};
  int total = (ceil_div(j, BM) * ceil_div(l, BN) - whole_tiles) * units;
  return {whole_tiles, share_begin(worker - whole_tiles, total, shares),
          share_begin(worker - whole_tiles + 1, total, shares)};
}

// One piece of work: units [first, first + units) of a tile.
struct Job {
  int row, col;  // of the tile's first result in P
  int first, units;
  int tile;
  __device__ int stages() const volatile { return ceil_div(units * BLOCK_STEPS, BK); }
};

// Takes the last job off the share, which must not be empty.
__device__ Job take_job(Share& share, int j, int k, int l) {
  j = anew(j), k = anew(k), l = anew(l);
  int units = ceil_div(k, BLOCK_STEPS), tile_rows = ceil_div(j, BM), tile_columns = ceil_div(l, BN);
  Job job;
  int tile = (share.end - 1) / units, begin = max(share.next, tile * units);
  job.tile = share.tile + tile;
  job.first = begin - tile * units;
  job.units = share.end - begin;
  // Tiles are numbered down GROUP rows, then one column on.
  int group = job.tile / (GROUP * tile_columns) * GROUP, height = min(GROUP, tile_rows - group);
  int in_group = job.tile - group * tile_columns;
  job.row = (group + in_group % height) * BM;
  job.col = in_group / height * BN;
  share.end = begin;
  return job;
}

// What the consumers keep in shared memory, behind the ring: the main loop needs every register.
struct Desk {
  Share share;
  Job job;
};

// Where a row of 64 results of a warp is put together before it is stored: eight rows at a time, so
// far apart that two rows meet different banks.
constexpr int STRIP_PITCH = 80, STRIP = 8 * STRIP_PITCH;  // floats
static_assert(sizeof(Desk) <= kDeskBytes && STRIP * 4 == kStripBytes);

// The consumer thread's number in its worker, and its worker's in the block.
__device__ __forceinline__ int thread_of_worker() {
  return WORKERS == 1 ? thread_number() : thread_number() % CONSUMERS;
}
__device__ __forceinline__ int worker_of_thread() {
  return WORKERS == 1 ? 0 : thread_number() / CONSUMERS;
}

// A worker's ring, and its desk behind it: found again each time, so that no register keeps it.
__device__ __forceinline__ unsigned char* ring_of_thread() {
  extern __shared__ __align__(1024) unsigned char shared[];
  return shared + worker_of_thread() * RING_BYTES;
}
__device__ __forceinline__ Desk* desk_of_thread() {
  return reinterpret_cast<Desk*>(ring_of_thread() + STAGES * (STAGE_BYTES + 16));
}

// A barrier for the consumers of a worker alone; number 0 is __syncthreads.
__device__ __forceinline__ void sync_consumers() {
  if constexpr (WORKERS == 1)
    asm volatile("bar.sync 1, %0;" ::"n"(CONSUMERS) : "memory");
  else if (worker_of_thread() == 0)
    asm volatile("bar.sync 1, %0;" ::"n"(CONSUMERS) : "memory");
  else
    asm volatile("bar.sync 2, %0;" ::"n"(CONSUMERS) : "memory");
}

// The part that share `s` leaves, one at most: 16 bytes of thread 0, of thread 1, ..., then the
// next 16 of thread 0: the order in which threads have them.
__device__ __forceinline__ const float4* part_of(const float4* scratch, int s) {
  return scratch + size_t(s) * QUADS;
}

// Adds 16-byte groups [begin, end) of the `count` parts from share `first` on and stores them.
__device__ void add_parts(const float4* scratch, int first, int count, float* P, int j, int l,
                          int row, int col, int begin, int end) {
#pragma unroll 1
  for (int e = begin + thread_of_worker(); e < end; e += IN_FLIGHT * CONSUMERS) {
    float4 sum[IN_FLIGHT];
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) sum[q] = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int s = 0; s < count; ++s) {
      const float4* part = part_of(scratch, first + s) + e;
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
      if (at >= end) continue;
      Place place(at % CONSUMERS);
      int quad = at / CONSUMERS;  // of that thread
      store_row(P, row + place.row + quad / (TN / 4) * 8, col + place.col + quad % (TN / 4) * 16, j,
                l, &sum[q].x);
    }
  }
}

// Waits for the parts of all `count` blocks of a tile, and lets the counter pair be used again:
// ready[0] counts parts, ready[1] blocks that have seen them all. Thread 0 only.
__device__ void meet(volatile unsigned* ready, unsigned count) {
  while (ready[0] < count) __nanosleep(40);
  if (atomicAdd(const_cast<unsigned*>(ready) + 1, 1u) == count - 1) ready[0] = 0, ready[1] = 0;
}

// store_tile where P's rows are not aligned. A thread's own results would be stores of four bytes,
// each to sectors that three others write to as well; so a warp puts rows together in shared
// memory, and stores 32 neighbours at a time.
__device__ __forceinline__ void store_tile_unaligned(float* strip, float* P, int row, int col,
                                                     const Place& place, int j, int l,
                                                     const float (&sum)[TM][TN]) {
  int lane = thread_of_worker() % 32, y = place.row % 8, x = place.col % 64;
  row += place.row - y, col += place.col - x + lane;
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int c = 0; c < TN; c += 4)
      *reinterpret_cast<float4*>(strip + y * STRIP_PITCH + x + c * 4) =
          make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]);
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < 8; i += 2) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float* to = P + size_t(row + i + e) * l + col;
#pragma unroll
        for (int c = 0; c < 64; c += 32)
          if (row + i + e < j && col + c < l) to[c] = strip[(i + e) * STRIP_PITCH + c + lane];
      }
    }
    row += 8;
    __syncwarp();
  }
}

// What the consumers do with a finished job: store the tile, after the other parts have been added
// if there are any; or leave the part.
__device__ __forceinline__ void finish(float (&sum)[TM][TN], float* strips, float* P, int j, int k,
                                       int l, int whole_tiles, int shares, int meeting,
                                       float4* scratch, unsigned* ready) {
  // Read anew what the main loop has no registers to keep.
  const int thread = thread_of_worker();
  const volatile Desk& desk = *desk_of_thread();
  Place place(thread);
  j = anew(j), k = anew(k), l = anew(l), whole_tiles = anew(whole_tiles), shares = anew(shares);
  int units = ceil_div(k, BLOCK_STEPS), row = desk.job.row, col = desk.job.col;
  int others = 0;  // parts to add
  if (desk.job.units != units) {
    int share = blockIdx.x * WORKERS + worker_of_thread() - whole_tiles;
    int tile = desk.job.tile - whole_tiles;
    int total = (ceil_div(j, BM) * ceil_div(l, BN) - whole_tiles) * units;
    int first = share_of(tile * units, total, shares);  // of the shares that the tile is cut into
    ready += 2 * tile;
    if (meeting || desk.job.first + desk.job.units != units) {
      float4* part = scratch + size_t(share) * QUADS + thread;
#pragma unroll
      for (int r = 0; r < TM; ++r)
#pragma unroll
        for (int c = 0; c < TN; c += 4)
          __stcg(part + (r * TN + c) / 4 * CONSUMERS,
                 make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]));
      __threadfence();  // the part is visible before it is counted
      sync_consumers();
      if (thread == 0) atomicAdd(ready, 1u);
      if (!meeting) return;
      // All workers run at once, so they can wait for each other.
      int count = shares / (total / units);
      if (thread == 0) meet(ready, count);
      sync_consumers();
      __threadfence();
      int me = share - first;
      add_parts(scratch, first, count, P, j, l, row, col, QUADS * me / count,
                QUADS * (me + 1) / count);
      return;
    }
    others = share - first;
    if (thread == 0) {
      volatile unsigned* parts = ready;
      while (*parts < unsigned(others)) __nanosleep(40);
      *parts = 0;
    }
    sync_consumers();
    __threadfence();
    scratch += size_t(first) * QUADS + thread;
  }
  // Also where there are none: two ways to the stores would need the results in two places.
#pragma unroll
  for (int r = 0; r < TM; r += IN_FLIGHT / (TN / 4)) {
    float4 all[IN_FLIGHT];
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) all[q] = make_float4(0, 0, 0, 0);
#pragma unroll 1
    for (int s = 0; s < others; s += 2) {  // two at a time: what takes time is waiting
      float4 v[2][IN_FLIGHT];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float4* part = part_of(scratch, min(s + e, others - 1)) + r * (TN / 4) * CONSUMERS;
#pragma unroll
        for (int q = 0; q < IN_FLIGHT; ++q) v[e][q] = __ldcg(part + q * CONSUMERS);
      }
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (s + e >= others) break;
#pragma unroll
        for (int q = 0; q < IN_FLIGHT; ++q) {
          all[q].x += v[e][q].x, all[q].y += v[e][q].y;
          all[q].z += v[e][q].z, all[q].w += v[e][q].w;
        }
      }
    }
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) {
      float* own = &sum[r + q / (TN / 4)][q % (TN / 4) * 4];
      own[0] += all[q].x, own[1] += all[q].y, own[2] += all[q].z, own[3] += all[q].w;
    }
  }
  if (l % 4 == 0 && reinterpret_cast<uintptr_t>(P) % 16 == 0)
    store_tile(P, row, col, place, j, l, sum);
  else
    store_tile_unaligned(strips + thread_number() / 32 * STRIP, P, row, col, place, j, l, sum);
}

}  // namespace

// meeting: all shares are equal parts of tiles, and a tile's workers add it up together.
// ready[2 * t], [2 * t + 1]: counters of the t-th shared tile; zero before and after every launch.
// scratch: [share][QUADS].
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    even_waves(const __grid_constant__ Maps maps, float* __restrict__ P, int j, int k, int l,
               int whole_tiles, int shares, int meeting, float4* __restrict__ scratch,
               unsigned* __restrict__ ready) {
  extern __shared__ __align__(1024) unsigned char shared[];
  start_next_kernel();  // it waits for this one before it reads or writes what others may still use
  if (threadIdx.x < WORKERS) Ring{shared_address(shared) + threadIdx.x * RING_BYTES}.init();
  __syncthreads();  // the barriers exist; from here on the roles part for good

  Cursor cursor;
  if (threadIdx.x >= WORKERS * CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    int worker = (threadIdx.x - WORKERS * CONSUMERS) / 32;
    if (worker >= WORKERS || threadIdx.x % 32 != 0) return;
    prepare(maps);
    Share share = share_of_worker(blockIdx.x * WORKERS + worker, j, k, l, whole_tiles, shares);
    // The operands may still be being written, P and the scratch memory still be in use. The
    // consumers need not wait: they write nothing before the first data have arrived.
    wait_for_kernels_before();
    Ring ring{shared_address(shared) + worker * RING_BYTES};
    while (share.next < share.end) {
      Job job = take_job(share, j, k, l);
      produce(ring, cursor, maps, job.row, job.col, job.first * BLOCK_STEPS, job.stages());
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    if (thread_of_worker() == 0)
      desk_of_thread()->share =
          share_of_worker(blockIdx.x * WORKERS + worker_of_thread(), j, k, l, whole_tiles, shares);
    sync_consumers();
#pragma unroll 1
    while (desk_of_thread()->share.next < desk_of_thread()->share.end) {
      sync_consumers();  // everyone has read the desk
      if (thread_of_worker() == 0) {
        Desk& desk = *desk_of_thread();
        desk.job = take_job(desk.share, j, k, l);
      }
      sync_consumers();  // the job is on the desk
      float sum[TM][TN];
      clear(sum);
      // The last unit may have fewer steps: what is missing arrives as zeros.
      int steps = desk_of_thread()->job.units * BLOCK_STEPS, stages = ceil_div(steps, BK);
      consume(Ring{shared_address(ring_of_thread())}, cursor, stages,
              last_stage_bytes(steps, 0, stages), sum);
      finish(sum, reinterpret_cast<float*>(shared + WORKERS * RING_BYTES), P, j, k, l, whole_tiles,
             shares, meeting, scratch, ready);
    }
  }
}
