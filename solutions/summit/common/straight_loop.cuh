// The main loop of rungs 06 to 08: all control once per stage, then four passes through one
// straight block of machine code, 8 steps of k each: 1024 FFMAs, 48 shared loads and nothing that
// branches. A straight block this large is what schedule.py (rung 07) can order as a whole.
#pragma once

#include "tile.cuh"

namespace summit {

constexpr int STAGES = 4;
constexpr int BLOCK_STEPS = 8;  // steps of k in the straight block

// Barriers lie behind the stages: `full` for 4 places, then `empty` for 4.
struct Ring {
  uint32_t base;
  __device__ uint32_t stage(int place) const { return base + place * STAGE_BYTES; }
  __device__ uint32_t full(int place) const { return base + STAGES * STAGE_BYTES + place * 8; }
  __device__ uint32_t empty(int place) const { return full(place) + STAGES * 8; }
  __device__ uint32_t end() const { return base + STAGES * (STAGE_BYTES + 16); }

  // By one thread, before any other touches the ring; a __syncthreads must follow.
  __device__ void init() const {
    for (int s = 0; s < STAGES; ++s) {
      barrier_init(full(s), 1);
      barrier_init(empty(s), CONSUMERS / 32);
    }
    barrier_fence();
  }
};

// sum += the product over `stages` (>= 1) stages, of which the first STAGES are on their way.
// fill(s) asks the copy engine for stage s and is called by thread 0 alone. The fragments are
// double-buffered in registers, over the border of stages too: m[0] and n[0] hold the next steps
// when a pass begins. After the last stage they are loaded once more than needed, from stale
// shared memory, and dropped.
template <typename Fill>
__device__ __forceinline__ void straight_loop(float (&sum)[TM][TN], const Ring& ring, int stages,
                                              Fill fill) {
  Place place(threadIdx.x);
  float4 m[2][TM], n[2][TN / 4];
  barrier_wait(ring.full(0), 0);
  load_m(m[0], place.m(ring.base));
  load_n(n[0], place.n(ring.base));

  int at = 0;           // place in the ring of the stage in use
  uint32_t parity = 0;  // of its full barrier
  uint32_t m_stage = place.m(ring.base), m_here = m_stage, n_here = place.n(ring.base);
#pragma unroll 1
  for (int s = 0; s < stages; ++s) {
    int next = at + 1;
    uint32_t next_parity = parity;
    if (next == STAGES) next = 0, next_parity ^= 1;
    if (s + 1 < stages) barrier_wait(ring.full(next), next_parity);
    if (s > 0) {  // give back the stage before this one; refill the one before that
      int before = at == 0 ? STAGES - 1 : at - 1;
      __syncwarp();
      if (threadIdx.x % 32 == 0) barrier_arrive(ring.empty(before));
      // One stage later than possible: by now every warp has long left stage s - 2, so thread 0
      // does not wait, and its warp does not fall behind.
      if (threadIdx.x == 0 && s > 1 && s + STAGES - 2 < stages) {
        barrier_wait(ring.empty(before == 0 ? STAGES - 1 : before - 1), ((s - 2) / STAGES) & 1);
        fill(s + STAGES - 2);
      }
      __syncwarp();
    }
    uint32_t m_next = place.m(ring.stage(next)), n_next = place.n(ring.stage(next));
    at = next;
    parity = next_parity;

    uint32_t chunk = BLOCK_STEPS * 4;  // bytes of a row of Mds that the next pass begins at
#pragma unroll 1
    do {
      bool last = chunk == BK * 4;
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
    } while (chunk <= BK * 4);
    m_stage = m_here;
  }
}

}  // namespace summit
