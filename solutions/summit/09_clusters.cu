// Rung 09, clusters: small products, whose few tiles are cut along k and added up through shared
// memory.
//
// Rung 08's tile is too large for a product of 512 x 512, and its parts travel through the L2
// cache. Here the tile is 128 x 128, 256 x 64, 64 x 256 or 64 x 64, its k cut into two slices (four
// for the smallest), each with warps and a ring of stages of its own, and the blocks that share a
// tile form a cluster of up to eight: each leaves its part in its own shared memory, and adds its
// share of the tile from the shared memory of all. Where eight blocks are too few, several clusters
// (`groups`) work at a tile, and the last to finish adds up what all have left in scratch memory.
// Parts are always added in order of k, so the result does not depend on timing. For products with
// very little k there are two more, of 256 x 64 and 64 x 256 in one slice, two blocks of which fit
// on a multiprocessor. They keep the order that ptxas gave them: 232 registers are too few for
// schedule.py. Operands that the copy engine cannot address need no copy where a share of k fits
// into its ring at once (fill_ring). New against rung 08: the split, cluster barriers, loads from
// another block's shared memory.
#include "clusters.h"
#include "common/straight_loop.cuh"
#include "common/summit.h"

using namespace summit;

namespace {

#ifndef SUMMIT_BLOCKS  // of a multiprocessor
#define SUMMIT_BLOCKS 1
#endif
constexpr int WORKERS = CONSUMERS * SLICES;  // threads that multiply
constexpr int QUADS = BM * BN / 4;           // 16-byte groups of a tile
constexpr int RING_BYTES = cluster_ring_bytes(STAGES, STAGE_BYTES);
constexpr int IN_FLIGHT = 2;  // groups that a thread adds at a time

__device__ __forceinline__ void sync_workers() {
  asm volatile("bar.sync 1, %0;" ::"n"(WORKERS) : "memory");
}
__device__ __forceinline__ void add(float4& sum, const float4& v) {
  sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
}

// Where 16-byte group `quad` of row s of a part lies, in bytes; odd rows have two halves of eight
// groups exchanged, so that the eight lanes that store together meet different banks.
__device__ __forceinline__ uint32_t place_of(int s, int quad) {
  return (s * (BN / 4) + (quad ^ (s & 1) << 2)) * 16;
}

// A special register, read anew: the main loop needs every register, so what comes after it must
// not be computed before.
#define SUMMIT_READ(name)                                  \
  [] {                                                     \
    int value;                                             \
    asm volatile("mov.u32 %0, %%" name ";" : "=r"(value)); \
    return value;                                          \
  }()

// What a slice of a block works on. Grid: x the cluster's blocks, then its groups; y and z the
// tiles.
struct Work {
  int rank, group;  // of the block in its cluster, of the cluster among those of its tile
  int tile, row, col;
};
__device__ __forceinline__ Work work_of_block(int j) {
  Work w;
  w.rank = SUMMIT_READ("cluster_ctarank"), w.group = SUMMIT_READ("clusterid.x");
  int y = SUMMIT_READ("ctaid.y"), z = SUMMIT_READ("ctaid.z");
  w.tile = z * ceil_div(j, BM) + y, w.row = y * BM, w.col = z * BN;
  return w;
}

// `steps` of k from k0 on: a slice's share, whole passes of the straight block.
struct Steps {
  int k0, steps;
};
__device__ __forceinline__ Steps steps_of(const Work& w, int k, int cluster, int groups,
                                          int slice) {
  int units = ceil_div(k, BLOCK_STEPS), shares = cluster * groups * SLICES;
  int share = (w.group * cluster + w.rank) * SLICES + slice;
  int each = units / shares, more = units % shares;  // the first shares have one unit more
  int first = share * each + min(share, more), count = each + (share < more);
  return {first * BLOCK_STEPS, min(k - first * BLOCK_STEPS, count * BLOCK_STEPS)};
}

// Where the rows of an operand are not aligned and a slice's share of k fits into its ring: the
// slice's consumers fill the ring themselves, four bytes at a time, once; stage s is full when all
// their copies for it are complete.
__device__ __forceinline__ void fill_ring(const Ring& ring, const float* M, const float* N, int j,
                                          int k, int l, int row, int col, const Steps& share) {
  int lane = thread_number() % 32, warp = thread_number() % CONSUMERS / 32;
  int end = share.k0 + share.steps;
#pragma unroll 1
  for (int s = 0; s * BK < share.steps; ++s) {
    int k0 = share.k0 + s * BK;
    {
      // M, 32 steps of a row: chunk lane / 4 of row r lies at place lane / 4 ^ r % 8.
      const float* from = M + size_t(row + warp) * k + k0 + lane;
      bool in_k = k0 + lane < end;
#pragma unroll 8
      for (int r = warp; r < BM; r += CONSUMERS / 32) {
        uint32_t to = ring.stage(s) + r * MDS_ROW + ((lane >> 2 ^ r & 7) << 4) + (lane & 3) * 4;
        copy_async<4>(to, in_k && row + r < j ? from : M, in_k && row + r < j);
        from += size_t(CONSUMERS / 32) * k;
      }
    }
    const float* from = N + size_t(k0 + warp) * l + col + lane;
    uint32_t to = ring.stage(s) + MDS_BYTES + warp * NDS_ROW + lane * 4;
#pragma unroll 2
    for (int i = warp; i < BK; i += CONSUMERS / 32) {
#pragma unroll
      for (int c = 0; c < BN; c += 32) {
        bool inside = k0 + i < end && col + c + lane < l;
        copy_async<4>(to + c * 4, inside ? from + c : N, inside);
      }
      from += size_t(CONSUMERS / 32) * l, to += CONSUMERS / 32 * NDS_ROW;
    }
    barrier_arrive_after_copies(ring.full(s));
  }
}

__device__ __forceinline__ void store_shared4(uint32_t address, const float4& v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v.x), "f"(v.y),
               "f"(v.z), "f"(v.w)
               : "memory");
}

// The slices of a block add up what they have, in order of k, and leave it as the block's part, in
// place of the first slice's ring. Each slice does so for TM / SLICES of a thread's rows: the
// others it puts into its own ring, for the thread with the same place in the slice that adds them.
// A slice is a constant here, so that results stay in registers.
template <int SLICE = 0>
__device__ __forceinline__ void leave_part(int slice, uint32_t part, const Place& place,
                                           const float (&sum)[TM][TN]) {
  if constexpr (SLICE + 1 < SLICES)
    if (slice != SLICE) return leave_part<SLICE + 1>(slice, part, place, sum);
  constexpr int ROWS = TM / SLICES, FIRST = SLICE * ROWS;
  auto of_thread = [&](int r, int c) {
    return make_float4(sum[r][c], sum[r][c + 1], sum[r][c + 2], sum[r][c + 3]);
  };
  auto place_in = [&](int slice, int r, int c) {
    return part + slice * RING_BYTES + place_of(place.row + r * 8, place.col / 4 + c);
  };
#pragma unroll
  for (int r = 0; r < TM; ++r)
#pragma unroll
    for (int c = 0; c < TN; c += 4)
      if (r / ROWS != SLICE) store_shared4(place_in(SLICE, r, c), of_thread(r, c));
  if constexpr (SLICES > 1) sync_workers();
  // All loads before anything is stored: they would wait for each other.
  float4 all[ROWS][TN / 4];
#pragma unroll
  for (int s = 0; s < SLICES; ++s)
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
      for (int c = 0; c < TN / 4; ++c) {
        int row = FIRST + r;
        float4 v = s == SLICE ? of_thread(row, c * 4) : load_shared4(place_in(s, row, c * 4));
        if (s == 0)
          all[r][c] = v;
        else
          add(all[r][c], v);
      }
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int c = 0; c < TN / 4; ++c) store_shared4(place_in(0, FIRST + r, c * 4), all[r][c]);
}

// Adds the blocks' parts of groups e, e + WORKERS, ... of 16 bytes, in order of k.
__device__ __forceinline__ void add_cluster(uint32_t parts, int cluster, int e, int end,
                                            float4 (&sum)[IN_FLIGHT]) {
#pragma unroll
  for (int i = 0; i < IN_FLIGHT; ++i) sum[i] = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int q = 0; q < 8; ++q) {
    if (q >= cluster) break;
    uint32_t there = address_in(parts, q);
#pragma unroll
    for (int i = 0; i < IN_FLIGHT; ++i) {
      int at = min(e + i * WORKERS, end - 1);
      add(sum[i], load_cluster4(there + place_of(at / (BN / 4), at % (BN / 4))));
    }
  }
}

}  // namespace

// Grid: (cluster * groups, rows of tiles, columns of tiles), in clusters of `cluster` blocks.
// ready[tile * cluster + rank] counts groups that have left their part; zero before and after every
// launch. scratch: [tile][group][QUADS] float4. M and N: nullptr, or the operands that fill_ring
// takes in place of the maps.
extern "C" __global__ void __launch_bounds__(THREADS, SUMMIT_BLOCKS)
    clusters(const __grid_constant__ Maps maps, float* __restrict__ P, int j, int k, int l,
             int cluster, int groups, float4* __restrict__ scratch, unsigned* __restrict__ ready,
             const float* __restrict__ M, const float* __restrict__ N) {
  extern __shared__ __align__(1024) unsigned char shared[];
  start_next_kernel();  // it waits for this one before it reads or writes what others may still use
  if (threadIdx.x < SLICES)
    Ring{shared_address(shared) + threadIdx.x * RING_BYTES}.init(M ? CONSUMERS : 1);
  __syncthreads();  // the barriers exist; from here on the roles part for good

  Cursor cursor;
  if (threadIdx.x >= WORKERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    int slice = (threadIdx.x - WORKERS) / 32;
    if (slice < SLICES && threadIdx.x % 32 == 0 && !M) {
      prepare(maps);
      Work w = work_of_block(j);
      Steps s = steps_of(w, k, cluster, groups, slice);
      wait_for_kernels_before();
      produce(Ring{shared_address(shared) + slice * RING_BYTES}, cursor, maps, w.row, w.col, s.k0,
              ceil_div(s.steps, BK));
    }
    __syncwarp();
    if (cluster * groups * SLICES == 1) return;
    meet_cluster();
    meet_cluster();
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(SUMMIT_BLOCKS == 1 ? 240 : 232));
  float sum[TM][TN];
  clear(sum);
  {
    int slice = thread_number() / CONSUMERS;
    Work w = work_of_block(j);
    Steps share = steps_of(w, anew(k), anew(cluster), anew(groups), slice);
    int steps = share.steps, stages = ceil_div(steps, BK);
    if (M) {
      wait_for_kernels_before();
      fill_ring(Ring{shared_address(shared) + slice * RING_BYTES}, M, N, j, k, l, w.row, w.col,
                share);
    }
    if (stages > 0)
      consume(Ring{shared_address(shared) + slice * RING_BYTES}, cursor, stages,
              last_stage_bytes(steps, 0, stages), sum);
  }
  const int thread = thread_number();
  j = anew(j), k = anew(k), l = anew(l), cluster = anew(cluster), groups = anew(groups);
  Place place(thread % CONSUMERS);
  Work w = work_of_block(j);
  if (cluster * groups * SLICES == 1) {
    store_tile(P, w.row, w.col, place, j, l, sum);
    return;
  }
  sync_workers();  // the stages have been read
  leave_part(thread / CONSUMERS, shared_address(shared), place, sum);
  release_shared();
  meet_cluster();
  int begin = QUADS * w.rank / cluster, end = QUADS * (w.rank + 1) / cluster;
  float4* left = scratch + size_t(w.tile) * groups * QUADS;
#pragma unroll 1
  for (int e = begin + thread; e < end; e += IN_FLIGHT * WORKERS) {
    float4 here[IN_FLIGHT];
    add_cluster(shared_address(shared), cluster, e, end, here);
#pragma unroll
    for (int i = 0; i < IN_FLIGHT; ++i) {
      int at = e + i * WORKERS;
      if (at >= end) continue;
      if (groups == 1)
        store_row(P, w.row + at / (BN / 4), w.col + at % (BN / 4) * 4, j, l, &here[i].x);
      else
        __stcg(left + size_t(w.group) * QUADS + at, here[i]);
    }
  }
  meet_cluster();  // no block leaves while another may still read its part
  if (groups == 1) return;

  __threadfence();  // this thread's groups are visible before they are counted
  volatile unsigned* arrived = reinterpret_cast<volatile unsigned*>(shared);
  sync_workers();
  if (thread == 0) *arrived = atomicAdd(ready + w.tile * cluster + w.rank, 1u);
  sync_workers();
  if (*arrived != unsigned(groups - 1)) return;  // a later block will find all parts there
  __threadfence();
  if (thread == 0) ready[w.tile * cluster + w.rank] = 0;
#pragma unroll 1
  for (int e = begin + thread; e < end; e += WORKERS) {
    float4 all = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int g = 0; g < groups; ++g) add(all, __ldcg(left + size_t(g) * QUADS + e));
    store_row(P, w.row + e / (BN / 4), w.col + e % (BN / 4) * 4, j, l, &all.x);
  }
}
