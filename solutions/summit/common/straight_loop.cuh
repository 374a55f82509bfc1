// The main loop of rungs 06 to 09, for producers and consumers: control once per stage, then four
// passes through one straight block of machine code, 8 steps of k each: 1024 FFMAs, 48 shared loads
// and nothing that branches. A straight block this large is what schedule.py (rung 07) can order as
// a whole.
#pragma once

#include "maps.h"
#include "summit.h"
#include "tile.cuh"

namespace summit {

#ifndef SUMMIT_STAGES
#define SUMMIT_STAGES 4
#endif
#ifndef SUMMIT_SLICES  // how many rings, for as many slices of k, a block has (rung 10)
#define SUMMIT_SLICES 1
#endif
constexpr int STAGES = SUMMIT_STAGES;
constexpr int SLICES = SUMMIT_SLICES;
constexpr int THREADS = SLICES * CONSUMERS + 128;  // and a warpgroup that produces
constexpr int BLOCK_STEPS = 8;                     // steps of k in the straight block

// Barriers lie behind the stages: `full` for all places, then `empty`.
struct Ring {
  uint32_t base;
  __device__ uint32_t stage(int place) const { return base + place * STAGE_BYTES; }
  __device__ uint32_t full(int place) const { return base + STAGES * STAGE_BYTES + place * 8; }
  __device__ uint32_t empty(int place) const { return full(place) + STAGES * 8; }
  __device__ uint32_t end() const { return base + STAGES * (STAGE_BYTES + 16); }

  // By one thread, before any other touches the ring; a __syncthreads must follow. `arrivals`: how
  // many threads say that they have filled a stage.
  __device__ void init(int arrivals = 1) const {
    for (int s = 0; s < STAGES; ++s) {
      barrier_init(full(s), arrivals);
      barrier_init(empty(s), CONSUMERS / 32);
    }
    barrier_fence();
  }
};

// The thread's number, read anew.
__device__ __forceinline__ int thread_number() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}
// x, of which the compiler does not know that it is x: what is computed from it is computed here.
__device__ __forceinline__ int anew(int x) {
  asm volatile("" : "+r"(x));
  return x;
}
// The place in the ring that comes next, and the parity of its barriers' phase.
struct Cursor {
  int at = 0;
  uint32_t parity = 0;
  __device__ void advance() {
    if (++at == STAGES) at = 0, parity ^= 1;
  }
};

// By the one producing thread: `stages` boxes of M and N, from row `row`, column `col` and step k0
// on, into the ring. Continues where the last call has left the cursor, so it may run ahead of the
// consumers into the next tile.
__device__ __forceinline__ void produce(const Ring& ring, Cursor& cursor, const Maps& maps, int row,
                                        int col, int k0, int stages) {
#pragma unroll 1
  for (int s = 0; s < stages; ++s) {
    int at = cursor.at;
    barrier_wait(ring.empty(at), cursor.parity ^ 1);  // passes at once in the first round
    barrier_expect(ring.full(at), STAGE_BYTES);
    copy_box(ring.stage(at), &maps.m, k0 + s * BK, row, ring.full(at));
    copy_box(ring.stage(at) + MDS_BYTES, &maps.n, col, k0 + s * BK, ring.full(at));
    cursor.advance();
  }
}

// By the same thread: the next place is left to the consumers, who are told when all have read what
// was there, and give it back as they do a stage.
__device__ __forceinline__ void leave_empty(const Ring& ring, Cursor& cursor) {
  barrier_wait(ring.empty(cursor.at), cursor.parity ^ 1);
  barrier_arrive(ring.full(cursor.at));
  cursor.advance();
}

// What may be done before the operands are known to be written.
__device__ __forceinline__ void prepare(const Maps& maps) {
  prefetch_map(&maps.m);
  prefetch_map(&maps.n);
}

// True in one lane of a whole warp; no register holds a lane's number for it through the straight
// block.
__device__ __forceinline__ bool elected() {
  int yes;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.b32 %0, 1, 0, p;\n}"
               : "=r"(yes));
  return yes;
}
// Zero in a general register; the compiler does not know its value.
__device__ __forceinline__ uint32_t always_zero() {
  uint32_t lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane >> 5;
}

// How far into a row of Mds, in bytes, the steps of k go in the last of stages [first, first +
// stages): less than to its end only where k ends, rounded up to whole passes of the block.
__device__ __forceinline__ uint32_t last_stage_bytes(int k, int first, int stages) {
  int steps = min(BK, k - (first + stages - 1) * BK);
  return (steps + BLOCK_STEPS - 1) / BLOCK_STEPS * BLOCK_STEPS * 4;
}

// By all consumers: sum += the product over `stages` (>= 1) stages of the ring, of the last one
// only the steps in the first `last_bytes` of a row of Mds. The fragments are
// double-buffered in registers, over the border of stages too: m[0] and n[0] hold the next steps
// when a pass begins. After the last stage they are loaded once more than needed, from whatever
// the next place holds, and dropped.
// Step i of the warp's rows of Mds belongs to row LEAD - shift + i of Nds.
__device__ __forceinline__ void consume(const Ring& ring, Cursor& cursor, int stages,
                                        uint32_t last_bytes, float (&sum)[TM][TN], int shift = 0) {
  Place place(thread_number() % CONSUMERS);
  const uint32_t n_first = place.n(0) + (LEAD - shift) * NDS_ROW;
  float4 m[2][TM], n[2][TN / 4];
  uint32_t m_stage = place.m(ring.stage(cursor.at)), n_here = ring.stage(cursor.at) + n_first;
  uint32_t m_here = m_stage;
  barrier_wait(ring.full(cursor.at), cursor.parity);
  load_m(m[0], m_here);
  load_n(n[0], n_here);

#pragma unroll 1
  for (int left = stages; left > 0; --left) {
    uint32_t used = ring.empty(cursor.at);
    cursor.advance();
    if (left > 1) barrier_wait(ring.full(cursor.at), cursor.parity);
    uint32_t m_next = place.m(ring.stage(cursor.at)), n_next = ring.stage(cursor.at) + n_first;

    // Bytes of a row of Mds that the next pass begins at. Not a plain constant to count up from:
    // ptxas would count in uniform registers, which schedule.py does not know.
    uint32_t chunk = BLOCK_STEPS * 4 + always_zero();
    uint32_t limit = (left > 1 ? BK * 4 : last_bytes) + always_zero();
#pragma unroll 1
    do {
      bool last = chunk == limit;
      uint32_t m_half = m_here ^ 16;  // the second four steps of this pass
      uint32_t m_then = last ? m_next : m_stage ^ chunk;
      uint32_t n_then = last ? n_next : n_here + BLOCK_STEPS * NDS_ROW;
      chunk += BLOCK_STEPS * 4;
#pragma unroll
      for (int i = 0; i < BLOCK_STEPS; ++i) {
        // Loads for step i + 1, and a quarter of M's values for the next four steps.
        load_n(n[(i + 1) % 2], i < BLOCK_STEPS - 1 ? n_here + (i + 1) * NDS_ROW : n_then);
#pragma unroll
        for (int r = i % 4 * 2; r < i % 4 * 2 + 2; ++r)
          m[(i / 4 + 1) % 2][r] = load_shared4((i < 4 ? m_half : m_then) + r * 8 * MDS_ROW);
        multiply(sum, m[i / 4 % 2], i % 4, n[i % 2]);
      }
      m_here = m_then;
      n_here = n_then;
    } while (chunk <= limit);
    m_stage = m_here;
    __syncwarp();  // the whole warp has read the stage
    if (elected()) barrier_arrive(used);
  }
}

}  // namespace summit
