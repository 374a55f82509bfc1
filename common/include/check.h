// CHECK(call): says so when a CUDA runtime call fails.
//
//   CHECK(cudaMalloc(&d_M, bytes));
//   kernel<<<grid, block>>>(...);
//   CHECK(cudaGetLastError());  // a launch returns nothing: a refused one is reported here
//
// On failure one line goes to standard error (file, line, call, the runtime's own words) and the
// program carries on: the grader looks at everything that was asked of the GPU and reports the
// first cause.

#pragma once

#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(call) report_cuda_error((call), #call, __FILE__, __LINE__)

inline void report_cuda_error(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s failed: %s\n", file, line, call, cudaGetErrorString(error));
}
