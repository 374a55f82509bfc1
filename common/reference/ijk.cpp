#include "reference/reference.h"

namespace tilewise::reference {

void multiply_ijk(const float* M, const float* N, float* P, Shape shape) {
  for (std::size_t row = 0; row < shape.j; ++row) {
    for (std::size_t col = 0; col < shape.l; ++col) {
      float sum = 0;
      for (std::size_t i = 0; i < shape.k; ++i) sum += M[row * shape.k + i] * N[i * shape.l + col];
      P[row * shape.l + col] = sum;
    }
  }
}

}  // namespace tilewise::reference
