// copy_async<BYTES>(to, from, inside): starts a copy from global to shared memory (labs 08 and 09).
//
//   copy_async<16>(&tile[r][i], &M[row * k + col], col < k);  // returns at once
//   __pipeline_commit();                                      // closes a group of copies
//   __pipeline_wait_prior(0);                                 // until all groups have arrived
//
// BYTES is 4, 8 or 16; both addresses must be multiples of it. If not inside, nothing is read and
// the copy writes zeros. It is the instruction cp.async of compute capability 8.0 and later, which
// has a form that fills with zeros. commit and wait are NVIDIA's, of cuda_pipeline.h; that header's
// own __pipeline_memcpy_async takes the number of zeros as a constant.

#pragma once

#include <cuda_pipeline.h>

template <int BYTES>
__device__ void copy_async(void* to, const void* from, bool inside) {
  static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
  unsigned target = unsigned(__cvta_generic_to_shared(to));  // an address within shared memory
  if constexpr (BYTES == 16) {  // .cg: past the first-level cache; only for 16 bytes
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(target), "l"(from), "r"(inside ? 16 : 0)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(target), "l"(from), "n"(BYTES), "r"(inside ? BYTES : 0)
                 : "memory");
  }
}
