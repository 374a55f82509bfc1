#include <cuda.h>

static const unsigned char cubin[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7};

void solve(const float* M, const float* N, float* P, int width) {
  CUmodule module;
  CUfunction function;
  cuModuleLoadData(&module, cubin);
  cuModuleGetFunction(&function, module, "sgemm");
  void* arguments[] = {&M, &N, &P, &width};
  cuLaunchKernel(function, width / 32, width / 32, 1, 256, 1, 1, 0, nullptr, arguments, nullptr);
}
