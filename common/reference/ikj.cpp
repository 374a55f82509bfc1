#include "reference/ikj_row.h"
#include "reference/reference.h"

namespace tilewise::reference {

void multiply_ikj(const float* M, const float* N, float* P, Shape shape) {
  for (std::size_t row = 0; row < shape.j; ++row) multiply_row(M, N, P, shape, row);
}

}  // namespace tilewise::reference
