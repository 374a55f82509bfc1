// The instructions of tensor cores, each of a whole warp: all 32 lanes have to come to it (lab 10).
//
//   uint32_t a[4], b[2];
//   load_matrices(a, row);             // ldmatrix.x4: four 8 x 8 matrices, one per register
//   load_matrices_transposed(b4, row); // the same, each matrix turned over its diagonal
//   multiply_add(sum, a, b);           // mma.m16n8k16: sum += A x B, bf16 in, float out
//
// A register holds two bf16 side by side, the one with the smaller index in its lower half. Lane
// 8 * i + r gives the address of row r of matrix i: 8 bf16, 16 bytes, at a multiple of 16. After
// load_matrices, register i of lane 4 * r + c has elements (r, 2 * c) and (r, 2 * c + 1) of matrix
// i; transposed, elements (2 * c, r) and (2 * c + 1, r).
//
// multiply_add: with g = lane / 4, t = lane % 4, a lane holds
//   a[0], a[1]: rows g and g + 8 of A, columns 2t and 2t + 1; a[2], a[3]: columns 8 further on
//   b[0], b[1]: column g of B, rows 2t and 2t + 1; 8 further down
//   sum[0..3]: rows g, g, g + 8, g + 8, columns 2t, 2t + 1, 2t, 2t + 1
//
// They need compute capability 8.0.

#pragma once

#include <cuda_bf16.h>

#include <cstdint>

__device__ inline void load_matrices(uint32_t (&to)[4], const __nv_bfloat16* row) {
  unsigned address = unsigned(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

__device__ inline void load_matrices_transposed(uint32_t (&to)[4], const __nv_bfloat16* row) {
  unsigned address = unsigned(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

__device__ inline void multiply_add(float (&sum)[4], const uint32_t (&a)[4], const uint32_t* b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
