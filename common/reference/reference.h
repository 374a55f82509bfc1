// CPU baselines of the classic study: one way to multiply matrices per file. P = M x N in single
// precision, row-major: M[j][k], N[k][l], P[j][l]. P is overwritten; the three must not overlap.

#pragma once

#include <cstddef>

namespace tilewise::reference {

struct Shape {
  std::size_t j = 0, k = 0, l = 0;
};

using Multiply = void (*)(const float* M, const float* N, float* P, Shape shape);

// The textbook order: each element of P is finished before the next. The inner loop walks down a
// column of N, a cache line for every element.
void multiply_ijk(const float* M, const float* N, float* P, Shape shape);

// The two inner loops exchanged: the inner loop walks along rows of N and P.
void multiply_ikj(const float* M, const float* N, float* P, Shape shape);

// The same with the rows of P divided among OpenMP's threads (OMP_NUM_THREADS; default: one per
// processor).
void multiply_ikj_openmp(const float* M, const float* N, float* P, Shape shape);

int openmp_threads();

}  // namespace tilewise::reference
