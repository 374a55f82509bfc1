#include <cublas_v2.h>

void solve(const float* M, const float* N, float* P, int width) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  float one = 1, zero = 0;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, width, width, width, &one, N, width, M, width, &zero,
              P, width);
}
