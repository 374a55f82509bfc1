// The PTX instructions that the rungs use and CUDA C++ has no plain word for, one function each,
// and the few device helpers that several rungs share. Addresses called `shared_*` are 32-bit
// addresses in the shared window (shared_address).
#pragma once

#include <cuda.h>

#include <cstdint>

namespace summit {

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// ---- cp.async (rungs 02 and 03) ----

// Starts a copy of BYTES (4 or 16) from global to shared memory; !inside writes zeros instead and
// reads nothing.
template <int BYTES>
__device__ __forceinline__ void copy_async(uint32_t shared_to, const float* from, bool inside) {
  int read = inside ? BYTES : 0;
  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_to), "l"(from),
                 "r"(read));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_to), "l"(from),
                 "r"(read));
}
template <int BYTES>
__device__ __forceinline__ void copy_async(float* to, const float* from, bool inside) {
  copy_async<BYTES>(shared_address(to), from, inside);
}
// Closes a group of copies. copy_wait<n> returns when at most the n youngest groups are open.
__device__ __forceinline__ void copy_commit() {
  asm volatile("cp.async.commit_group;");
}
template <int OPEN>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(OPEN) : "memory");
}

// Arrives on the barrier once the copies that this thread has started are complete.
__device__ __forceinline__ void barrier_arrive_after_copies(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// Brings the line with this address into the L2 cache (rung 10).
__device__ __forceinline__ void prefetch_l2(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

// ---- mbarriers and the bulk tensor copy engine (from rung 04) ----

__device__ __forceinline__ void barrier_init(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
// Makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void barrier_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives, and lets the phase end only once `bytes` have been written by the copy engine.
__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
// Waits until the phase with this parity (0 for the first) has ended.
__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra END;\nbra AGAIN;\nEND:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
// Asks the copy engine for the box whose first element is (row y, column x); what lies outside the
// matrix arrives as zeros. Completion is counted in bytes on `barrier`.
__device__ __forceinline__ void copy_box(uint32_t shared_to, const CUtensorMap* map, int x, int y,
                                         uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// Fetches the map itself, which takes as long as a first copy.
__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Before the copy engine is let at shared memory that ordinary loads and stores have used.
__device__ __forceinline__ void fence_before_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Before the copy engine reads global memory that ordinary stores have written in this time.
__device__ __forceinline__ void fence_before_bulk_reads() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}
__device__ __forceinline__ unsigned load_acquire(const unsigned* p) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

// ---- clusters of blocks (rung 09) ----

// Makes what this thread has written to its block's shared memory visible to the threads of the
// cluster that it meets next. A barrier that releases by itself would wait for global memory, too.
__device__ __forceinline__ void release_shared() {
  asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}
// All threads of all blocks of the cluster meet.
__device__ __forceinline__ void meet_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
// The address, for loads from the cluster's shared memory, of this block's `address` in block
// `rank`.
__device__ __forceinline__ uint32_t address_in(uint32_t address, int rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ __forceinline__ float4 load_cluster4(uint32_t address) {
  float4 v;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address));
  return v;
}

// ---- a kernel that overlaps the one before it (programmatic dependent launch) ----

// Lets the next kernel on the stream start its blocks now, if it was launched to be so early.
__device__ __forceinline__ void start_next_kernel() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// Waits until all kernels before this one are complete and their writes visible.
__device__ __forceinline__ void wait_for_kernels_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// ---- loads and stores ----

// volatile: the order of loads against barrier_wait must stay as written.
__device__ __forceinline__ float4 load_shared4(uint32_t address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address));
  return v;
}

// Component c of v; c is a constant once the loops are unrolled.
__device__ __forceinline__ float lane_of(const float4& v, int c) {
  return c == 0 ? v.x : c == 1 ? v.y : c == 2 ? v.z : v.w;
}

// Stores v[0..3] to P[row][col..col+3] (P is j x l) as far as they exist: 16 bytes at once where
// rows of P are 16-byte aligned.
__device__ __forceinline__ void store_row(float* P, int row, int col, int j, int l,
                                          const float* v) {
  if (row >= j) return;
  float* to = P + size_t(row) * l + col;
  if (l % 4 == 0 && reinterpret_cast<uintptr_t>(P) % 16 == 0) {
    if (col < l) *reinterpret_cast<float4*>(to) = make_float4(v[0], v[1], v[2], v[3]);
  } else {
#pragma unroll
    for (int c = 0; c < 4; ++c)
      if (col + c < l) to[c] = v[c];
  }
}

}  // namespace summit
