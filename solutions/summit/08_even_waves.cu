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
// 128 x 128 (SUMMIT_SLICES 2), each half of them, with a ring of stages of its own. Compiled with
// SUMMIT_JOINED the two halves are one worker again: each takes half of a job's steps of k, and
// they add up what they have through shared memory, so that a tile has half as many parts that
// travel, and twice as many threads to add them.
#include "common/shifted.cuh"
#include "common/summit.h"
#include "even_waves.h"

using namespace summit;

namespace {

constexpr int GROUP = 2048 / BM;    // tile rows of P that are taken together
constexpr int QUADS = BM * BN / 4;  // 16-byte groups of a tile
constexpr int IN_FLIGHT = 8;        // of them a thread adds at a time
#ifdef SUMMIT_JOINED
constexpr int WORKERS = 1;  // of a block
constexpr int AT_ONCE = 3;  // parts that the owner of a tile loads before it adds
#else
constexpr int WORKERS = SLICES;
constexpr int AT_ONCE = 2;
#endif
constexpr int JOINED = SLICES / WORKERS;  // rings that a worker has
constexpr int TEAM = JOINED * CONSUMERS;  // threads of a worker
constexpr int ROWS_LEFT = TM / JOINED;    // of a thread's results, once they are joined
constexpr int RING_BYTES = even_waves_ring_bytes(STAGES, STAGE_BYTES);

// A worker's share, in units of BLOCK_STEPS steps of k of the tiles from `tile` on, laid end to
// end: what is left of it is [next, end).
struct Share {
  int tile, next, end;
};

// Workers 0..whole_tiles-1 take a tile each; the `shares` workers after them divide the rest. The
// last block may have a worker too many.
// Where they meet, each tile is divided by itself.
__device__ Share share_of_worker(int worker, int j, int k, int l, int whole_tiles, int shares,
                                 int meeting) {
  int units = ceil_div(k, BLOCK_STEPS);
  if (worker < whole_tiles) return {worker, 0, units};
  if (worker >= whole_tiles + shares) return {0, 0, 0};
  int total = (ceil_div(j, BM) * ceil_div(l, BN) - whole_tiles) * units;
  if (meeting) {
    int parts = shares / (total / units), tile = (worker - whole_tiles) / parts;
    int part = worker - whole_tiles - tile * parts;
    return {whole_tiles, tile * units + share_begin(part, units, parts),
            tile * units + share_begin(part + 1, units, parts)};
  }
  return {whole_tiles, share_begin(worker - whole_tiles, total, shares),
          share_begin(worker - whole_tiles + 1, total, shares)};
}

// One piece of work: units [first, first + units) of a tile.
struct Job {
  int row, col;  // of the tile's first result in P
  int first, units;
  int tile;
};

// A ring's units of a job: all, or where rings are joined the first or the second half.
struct Half {
  int first, units;
  __device__ int stages() const { return ceil_div(units * BLOCK_STEPS, BK); }
};
__device__ __forceinline__ Half half_of(int first, int units, int ring) {
  if constexpr (JOINED == 1) return {first, units};
  int second = units / 2;
  return ring == 0 ? Half{first, units - second} : Half{first + units - second, second};
}

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
  job.row = TileRows::first_of(group + in_group % height, j);
  job.col = in_group / height * BN;
  share.end = begin;
  return job;
}

// What the consumers keep in shared memory, behind the ring: the main loop needs every register.
struct Desk {
  Share share;
  Job job;
  int place[2];  // in each ring, where its half of the results is put (SUMMIT_JOINED)
};

// Where a row of 64 results of a warp is put together before it is stored: eight rows at a time, so
// far apart that two rows meet different banks.
constexpr int STRIP_PITCH = 80, STRIP = 8 * STRIP_PITCH;  // floats
static_assert(sizeof(Desk) <= kDeskBytes && STRIP * 4 == kStripBytes);

// The consumer thread's number in its worker, and its worker's in the block.
__device__ __forceinline__ int thread_of_worker() {
  return WORKERS == 1 ? thread_number() : thread_number() % CONSUMERS;
}
__device__ __forceinline__ int ring_number() {
  return SLICES == 1 ? 0 : thread_number() / CONSUMERS;
}
__device__ __forceinline__ int worker_of_thread() {
  return WORKERS == 1 ? 0 : thread_number() / CONSUMERS;
}

// A worker's ring, and its desk behind it: found again each time, so that no register keeps it.
__device__ __forceinline__ unsigned char* ring_of_thread() {
  extern __shared__ __align__(1024) unsigned char shared[];
  return shared + ring_number() * RING_BYTES;
}
__device__ __forceinline__ Desk* desk_of_thread() {
  extern __shared__ __align__(1024) unsigned char shared[];
  return reinterpret_cast<Desk*>(shared + worker_of_thread() * RING_BYTES +
                                 STAGES * (STAGE_BYTES + 16));
}

// A barrier for the consumers of a worker alone; number 0 is __syncthreads.
__device__ __forceinline__ void sync_consumers() {
  if constexpr (WORKERS == 1)
    asm volatile("bar.sync 1, %0;" ::"n"(TEAM) : "memory");
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

// Where the group's thread has it in the tile.
struct Group {
  int row, col;
  __device__ Group(int group) {
    int thread = group % TEAM, quad = group / TEAM;  // of that thread
    Place place(thread % CONSUMERS);
    row = place.row + (thread / CONSUMERS * ROWS_LEFT + quad / (TN / 4)) * 8;
    col = place.col + quad % (TN / 4) * 16;
  }
};

// Adds 16-byte groups [begin, end) of the `count` parts from share `first` on and stores them.
__device__ void add_parts(const float4* scratch, int first, int count, float* P, int j, int l,
                          const TileRows& rows, int col, int begin, int end) {
#pragma unroll 1
  for (int e = begin + thread_of_worker(); e < end; e += IN_FLIGHT * TEAM) {
    float4 sum[IN_FLIGHT];
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) sum[q] = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int s = 0; s < count; ++s) {
      const float4* part = part_of(scratch, first + s) + e;
#pragma unroll
      for (int q = 0; q < IN_FLIGHT; ++q) {
        if (e + q * TEAM >= end) continue;
        float4 v = __ldcg(part + q * TEAM);
        sum[q].x += v.x, sum[q].y += v.y, sum[q].z += v.z, sum[q].w += v.w;
      }
    }
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) {
      int at = e + q * TEAM;
      if (at >= end) continue;
      Group group(at);
      store_row(P, rows(group.row), col + group.col, j, l, &sum[q].x);
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
template <int FIRST>
__device__ __forceinline__ void store_tile_unaligned(float* strip, float* P, const TileRows& rows,
                                                     int col, const Place& place, int j, int l,
                                                     const float (&sum)[TM][TN]) {
  int lane = thread_of_worker() % 32, y = place.row % 8, x = place.col % 64;
  int row = rows(place.row - y + FIRST * 8), step = rows.step();
  col += place.col - x + lane;
#pragma unroll
  for (int r = FIRST; r < FIRST + ROWS_LEFT; ++r) {
#pragma unroll
    for (int c = 0; c < TN; c += 4)
      *reinterpret_cast<float4*>(strip + y * STRIP_PITCH + x + c * 4) =
          make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]);
    __syncwarp();
#pragma unroll 1
    for (int i = 0; i < 8; i += 2) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        int here = row + (i + e) * step;
        float* to = P + size_t(here) * l + col;
#pragma unroll
        for (int c = 0; c < 64; c += 32)
          if (here < j && col + c < l) to[c] = strip[(i + e) * STRIP_PITCH + c + lane];
      }
    }
    row += 8 * step;
    __syncwarp();
  }
}

// Adds up what the worker's two rings have. A thread gives half of its rows to the thread with the
// same place in the other ring, by way of the stage that comes next in its own, which the producer
// has left empty for it; of the other half, which begins with row FIRST, it gets that thread's.
template <int FIRST>
__device__ __forceinline__ void join(Cursor& cursor, float (&sum)[TM][TN]) {
  static_assert(JOINED == 1 || CONSUMERS * ROWS_LEFT * TN * 4 <= STAGE_BYTES);
  constexpr int number = FIRST / ROWS_LEFT;  // of the ring
  const int thread = thread_number() % CONSUMERS;
  extern __shared__ __align__(1024) unsigned char shared[];
  Ring own{shared_address(shared) + number * RING_BYTES};
  Ring other{shared_address(shared) + (number ^ 1) * RING_BYTES};
  volatile Desk& desk = *desk_of_thread();
  barrier_wait(own.full(cursor.at), cursor.parity);  // the ring's warps have read what was there
  uint32_t to = own.stage(cursor.at) + thread * 16;
#pragma unroll
  for (int r = 0; r < ROWS_LEFT; ++r)
#pragma unroll
    for (int c = 0; c < TN; c += 4) {
      const float* v = &sum[r + TM - ROWS_LEFT - FIRST][c];
      asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to + (r * (TN / 4) + c / 4) *
                                                                             CONSUMERS * 16),
                   "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3])
                   : "memory");
    }
  if (thread == 0) desk.place[number] = cursor.at;
  fence_before_copies();  // the copy engine fills this place again
  sync_consumers();
  int at = desk.place[number ^ 1];
  uint32_t from = other.stage(at) + thread * 16;
#pragma unroll
  for (int r = 0; r < ROWS_LEFT; ++r)
#pragma unroll
    for (int c = 0; c < TN; c += 4) {
      float4 v = load_shared4(from + (r * (TN / 4) + c / 4) * CONSUMERS * 16);
      float* own = &sum[FIRST + r][c];
      own[0] += v.x, own[1] += v.y, own[2] += v.z, own[3] += v.w;
    }
  fence_before_copies();  // the loads are over
  __syncwarp();
  if (elected()) barrier_arrive(other.empty(at));  // it has as many warps as its own
  cursor.advance();
}

// How many steps of k the running warp's rows of M lag behind the job's (shifted.cuh). If the job
// begins with step 0, so many elements are of the rows before, or of nothing: zeros in their place.
// `first`: the first unit of the job that this ring has.
__device__ __forceinline__ int shift_of_warp(const OperandMaps& maps, const Cursor& cursor,
                                             int first, int j) {
#ifdef SUMMIT_SHIFTED
  const volatile Job& job = desk_of_thread()->job;
  int row = job.row;
  if (!TileRows(row, anew(j)).apart) return 0;
  int thread = thread_number() % CONSUMERS;
  int shift = maps.shift[(row + thread / 32 / WARP_COLUMNS) % CLASSES];
  if (shift > 0 && job.first + first == 0) {
    Ring ring{shared_address(ring_of_thread())};
    barrier_wait(ring.full(cursor.at), cursor.parity);
    uint32_t chunk = Place(thread).m(ring.stage(cursor.at));
#pragma unroll 1
    for (int r = 0; r < TM; ++r)
#pragma unroll 1
      for (int i = 0; i < shift; ++i)
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(chunk + r * 8 * MDS_ROW + i * 4), "f"(0.0f)
                     : "memory");
    fence_before_copies();  // the copy engine fills this place again
    __syncwarp();
  }
  return shift;
#else
  return 0;
#endif
}

// What the consumers do with a finished job: store the tile, after the other parts have been added
// if there are any; or leave the part.
template <int FIRST>
__device__ __forceinline__ void finish(float (&sum)[TM][TN], float* strips, float* P, int j, int k,
                                       int l, int whole_tiles, int shares, int meeting,
                                       float4* scratch, unsigned* ready) {
  // Read anew what the main loop has no registers to keep.
  const int thread = thread_of_worker();
  const volatile Desk& desk = *desk_of_thread();
  Place place(thread % CONSUMERS);
  j = anew(j), k = anew(k), l = anew(l), whole_tiles = anew(whole_tiles), shares = anew(shares);
  int units = ceil_div(k, BLOCK_STEPS), col = desk.job.col;
  TileRows rows(desk.job.row, j);
  int others = 0;  // parts to add
  if (desk.job.units != units) {
    int share = blockIdx.x * WORKERS + worker_of_thread() - whole_tiles;
    int tile = desk.job.tile - whole_tiles;
    int total = (ceil_div(j, BM) * ceil_div(l, BN) - whole_tiles) * units;
    int count = shares / (total / units);  // of its parts, if its workers meet
    int first = meeting ? tile * count : share_of(tile * units, total, shares);
    ready += 2 * tile;
    if (meeting || desk.job.first + desk.job.units != units) {
      float4* part = scratch + size_t(share) * QUADS + thread;
#pragma unroll
      for (int r = 0; r < ROWS_LEFT; ++r)
#pragma unroll
        for (int c = 0; c < TN; c += 4) {
          const float* v = &sum[FIRST + r][c];
          __stcg(part + (r * TN + c) / 4 * TEAM, make_float4(v[0], v[1], v[2], v[3]));
        }
      __threadfence();  // the part is visible before it is counted
      sync_consumers();
      if (thread == 0) atomicAdd(ready, 1u);
      if (!meeting) return;
      // All workers run at once, so they can wait for each other.
      if (thread == 0) meet(ready, count);
      sync_consumers();
      __threadfence();
      int me = share - first;
      add_parts(scratch, first, count, P, j, l, rows, col, QUADS * me / count,
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
  for (int r = 0; r < ROWS_LEFT; r += IN_FLIGHT / (TN / 4)) {
    float4 all[IN_FLIGHT];
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) all[q] = make_float4(0, 0, 0, 0);
#pragma unroll 1
    for (int s = 0; s < others; s += AT_ONCE) {  // what takes time is waiting
      float4 v[AT_ONCE][IN_FLIGHT];
#pragma unroll
      for (int e = 0; e < AT_ONCE; ++e) {
        const float4* part = part_of(scratch, min(s + e, others - 1)) + r * (TN / 4) * TEAM;
#pragma unroll
        for (int q = 0; q < IN_FLIGHT; ++q) {
          // A register that is only sometimes loaded counts as in use before, which would leave
          // schedule.py too few.
          if constexpr (JOINED > 1) v[e][q] = make_float4(0, 0, 0, 0);
          if (JOINED == 1 || s + e < others) v[e][q] = __ldcg(part + q * TEAM);
        }
      }
#pragma unroll
      for (int e = 0; e < AT_ONCE; ++e) {
        if (JOINED == 1 && s + e >= others) break;
#pragma unroll
        for (int q = 0; q < IN_FLIGHT; ++q) {
          all[q].x += v[e][q].x, all[q].y += v[e][q].y;
          all[q].z += v[e][q].z, all[q].w += v[e][q].w;
        }
      }
    }
#pragma unroll
    for (int q = 0; q < IN_FLIGHT; ++q) {
      float* own = &sum[FIRST + r + q / (TN / 4)][q % (TN / 4) * 4];
      own[0] += all[q].x, own[1] += all[q].y, own[2] += all[q].z, own[3] += all[q].w;
    }
  }
  if (l % 4 == 0 && reinterpret_cast<uintptr_t>(P) % 16 == 0)
#pragma unroll
    for (int r = FIRST; r < FIRST + ROWS_LEFT; ++r)
#pragma unroll
      for (int c = 0; c < TN; c += 4)
        store_row(P, rows(place.row + r * 8), col + place.col + c * 4, j, l, &sum[r][c]);
  else
    store_tile_unaligned<FIRST>(strips + thread_number() / 32 * STRIP, P, rows, col, place, j, l,
                                sum);
}

}  // namespace

// meeting: all shares are equal parts of tiles, and a tile's workers add it up together.
// ready[2 * t], [2 * t + 1]: counters of the t-th shared tile; zero before and after every launch.
// scratch: [share][QUADS].
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    even_waves(const __grid_constant__ OperandMaps maps, float* __restrict__ P, int j, int k, int l,
               int whole_tiles, int shares, int meeting, float4* __restrict__ scratch,
               unsigned* __restrict__ ready) {
  extern __shared__ __align__(1024) unsigned char shared[];
  start_next_kernel();  // it waits for this one before it reads or writes what others may still use
  if (threadIdx.x < SLICES) Ring{shared_address(shared) + threadIdx.x * RING_BYTES}.init();
  __syncthreads();  // the barriers exist; from here on the roles part for good

  Cursor cursor;
  if (threadIdx.x >= SLICES * CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    // Each ring has one producing warp or, where M is shifted, its share of the four.
    constexpr int parts = LEAD > 0 ? 4 / SLICES : 1;
    int number = (threadIdx.x - SLICES * CONSUMERS) / 32 / parts;  // of the ring
    int part = threadIdx.x / 32 % parts;
    if (number >= SLICES || threadIdx.x % 32 != 0) return;
    prepare(maps);
    int worker = blockIdx.x * WORKERS + (WORKERS == 1 ? 0 : number);
    Share share = share_of_worker(worker, j, k, l, whole_tiles, shares, meeting);
    // The operands may still be being written, P and the scratch memory still be in use. The
    // consumers need not wait: they write nothing before the first data have arrived.
#ifdef SUMMIT_SHIFTED
    if (SLICES == 1 && maps.progress.first_done)
      wait_for_first(maps.progress);
    else
#endif
      wait_for_kernels_before();
    Ring ring{shared_address(shared) + number * RING_BYTES};
    while (share.next < share.end) {
      Job job = take_job(share, j, k, l);
      Half half = half_of(job.first, job.units, number);
      int k0 = half.first * BLOCK_STEPS;
#ifdef SUMMIT_SHIFTED
      produce(ring, cursor, maps, job.row, job.col, k0, half.stages(), j, part, parts);
#else
      produce(ring, cursor, maps, job.row, job.col, k0, half.stages());
#endif
      if (JOINED > 1 && part == 0) leave_empty(ring, cursor);
      if (JOINED > 1 && part > 0) cursor.advance();
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    if (thread_of_worker() == 0)
      desk_of_thread()->share = share_of_worker(blockIdx.x * WORKERS + worker_of_thread(), j, k, l,
                                                whole_tiles, shares, meeting);
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
      Half half = half_of(0, desk_of_thread()->job.units, ring_number());
      int steps = half.units * BLOCK_STEPS, stages = half.stages();
      if (JOINED == 1 || stages > 0)  // the second half of one unit is none
        consume(Ring{shared_address(ring_of_thread())}, cursor, stages,
                last_stage_bytes(steps, 0, stages), sum,
                shift_of_warp(maps, cursor, half.first, j));
      float* strips = reinterpret_cast<float*>(shared + SLICES * RING_BYTES);
      if constexpr (JOINED == 1) {
        finish<0>(sum, strips, P, j, k, l, whole_tiles, shares, meeting, scratch, ready);
      } else if (ring_number() == 0) {
        join<0>(cursor, sum);
        finish<0>(sum, strips, P, j, k, l, whole_tiles, shares, meeting, scratch, ready);
      } else {
        join<TM - ROWS_LEFT>(cursor, sum);
        finish<TM - ROWS_LEFT>(sum, strips, P, j, k, l, whole_tiles, shares, meeting, scratch,
                               ready);
      }
    }
  }
}
