// Lab 01, naive kernel: one thread computes one element of P = M x N. The handout is README.md.
//
//   make grade LAB=01                                     grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it
//
// M, N and P are width x width, row-major: element (r, c) stands at index r * width + c.

#include "check.h"  // CHECK(call) reports a CUDA call that fails

// P = M x N. M, N, P: device pointers. Grid: x covers the columns of P, y covers its rows.
__global__ void naive_kernel(const float* M, const float* N, float* P, int width) {
  // TODO(1): which element of P is this thread's? Row from y, column from x. (about 2 lines)
  // END TODO(1)

  // TODO(2): threads beyond the edge of P must do nothing. (about 1 line)
  // END TODO(2)

  // TODO(3): multiply row `row` of M by column `col` of N; store the sum in P. (about 5 lines)
  // END TODO(3)
}

// P = M x N. M, N, P: HOST pointers, width * width floats each.
void solve(const float* M, const float* N, float* P, int width) {
  // TODO(4): allocate d_M, d_N and d_P on the device; copy M and N there. (about 7 lines)
  // END TODO(4)

  // TODO(5): launch naive_kernel on enough blocks to cover P; check the launch. (about 5 lines)
  // END TODO(5)

  // TODO(6): copy the product back into P (that waits for the kernel); free. (about 4 lines)
  // END TODO(6)
}
