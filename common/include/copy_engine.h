// The copy engine (TMA) and the barriers in shared memory that tell when its copies have arrived
// (lab 11).
//
//   CUtensorMap map = make_map(A, cols, rows, pitch, box_cols, box_rows);      // on the host
//
//   init_barrier(&full, 1);                  // one thread, once: so many arrivals end a phase
//   publish_barriers();                      // the same thread, before all others meet
//   arrive_and_expect(&full, bytes);         // one arrival, and so many bytes have to come
//   copy_box(tile, &map, x, y, &full);       // asks for the box at column x, row y
//   wait_for_phase(&full, parity);           // all threads that read the tile
//   arrive(&empty);                          // one arrival, when what was read has come
//
// A phase of a barrier is complete when all its arrivals and all its bytes have come; then the next
// one begins by itself. Phases have numbers 0, 1, 2 and so on; wait_for_phase takes the last bit of
// the number, the parity, and returns at once if that phase is complete.
//
// Coordinates and sizes begin with the inner dimension: the column first, then the row.
//
// They need compute capability 9.0.

#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

// ---- on the host ----

// What the copy engine has to know of a matrix: rows x cols bf16 at A, whose rows begin `pitch`
// elements apart, a multiple of 8. A copy brings a box of box_rows x box_cols; what lies outside
// the matrix arrives as zeros. A row of the box has 64 elements at most, 128 bytes: its pieces of
// 16 bytes arrive permuted (swizzled), piece p of row r at p ^ r % 8. (Always inlined, so that a
// report on a map that the driver refuses names the line of the call.)
__attribute__((always_inline)) inline CUtensorMap make_map(const __nv_bfloat16* A, int cols,
                                                           int rows, int pitch, int box_cols,
                                                           int box_rows) {
  CUtensorMap map = {};
  void* entry = nullptr;  // the driver's function; the runtime knows where it is
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                   &found);
  if (entry == nullptr) return map;
  cuuint64_t size[] = {cuuint64_t(cols), cuuint64_t(rows)};
  cuuint64_t stride[] = {cuuint64_t(pitch) * sizeof(__nv_bfloat16)};
  cuuint32_t box[] = {cuuint32_t(box_cols), cuuint32_t(box_rows)}, step[] = {1, 1};
  CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<__nv_bfloat16*>(A), size, stride, box,
      step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::fprintf(stderr, "make_map: CUDA error %d\n", int(result));
  return map;
}

// ---- on the device ----

__device__ inline uint32_t shared_address(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

// A phase ends when `arrivals` arrivals, and the bytes that were announced, have come.
__device__ inline void init_barrier(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

// Lets the copy engine see the barriers that this thread has initialised.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// The fence is for what was read before: the compiler lets an ldmatrix be on its way when the
// arrival is made, and the engine may then write over what it has yet to read. Without it an H200
// got a row wrong in 3 products of 1000 (docs/measurements/repeated-products.md).
__device__ inline void arrive(uint64_t* barrier) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

// One arrival, and the phase does not end before `bytes` bytes have been copied.
__device__ inline void arrive_and_expect(uint64_t* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

// Returns when the phase with this parity (0 for the first) is complete.
__device__ inline void wait_for_phase(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred complete;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
      "@complete bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// Asks for the box whose first element is column x of row y, and goes on. to: at a multiple of 1024
// bytes. The bytes count on the barrier when they have come.
__device__ inline void copy_box(void* to, const CUtensorMap* map, int x, int y, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}
