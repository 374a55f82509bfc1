// One row of P in the order k, j: what the serial and the parallel ikj share.

#pragma once

#include <algorithm>

#include "reference/reference.h"

namespace tilewise::reference {

inline void multiply_row(const float* M, const float* N, float* P, Shape shape, std::size_t row) {
  float* __restrict out = P + row * shape.l;
  std::fill(out, out + shape.l, 0.0f);
  for (std::size_t i = 0; i < shape.k; ++i) {
    const float factor = M[row * shape.k + i];
    const float* __restrict in = N + i * shape.l;
    for (std::size_t col = 0; col < shape.l; ++col) out[col] += factor * in[col];
  }
}

}  // namespace tilewise::reference
