#include <omp.h>

#include "reference/ikj_row.h"
#include "reference/reference.h"

namespace tilewise::reference {

void multiply_ikj_openmp(const float* M, const float* N, float* P, Shape shape) {
#pragma omp parallel for schedule(static)
  for (std::size_t row = 0; row < shape.j; ++row) multiply_row(M, N, P, shape, row);
}

int openmp_threads() {
  return omp_get_max_threads();
}

}  // namespace tilewise::reference
