// Faults that end a context, one a run: fault oob|assert|host|unsupported|exit.

#include <cassert>
#include <cstdlib>
#include <cstring>

#include "expect.h"

__global__ void past_the_end(int* p) {
  p[threadIdx.x + 30] = 1;  // the array has 32 elements
}

__global__ void asserts(int n) {
  assert(n == 0);
}

// After a fault every call but the error queries returns it, and cudaDeviceReset ends that.
void check_sticky(int code) {
  EXPECT_OK(cudaGetLastError());  // the kernel still runs, as far as the host knows
  EXPECT_CODE(cudaDeviceSynchronize(), code);
  EXPECT_CODE(cudaGetLastError(), code);
  EXPECT_CODE(cudaGetLastError(), code);
  void* p;
  EXPECT_CODE(cudaMalloc(&p, 4), code);
  asserts<<<1, 1>>>(0);
  EXPECT_CODE(cudaPeekAtLastError(), code);
  EXPECT_OK(cudaDeviceReset());
  EXPECT_OK(cudaGetLastError());
  EXPECT_OK(cudaMalloc(&p, 4));
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  int* d;
  EXPECT_OK(cudaMalloc(&d, 32 * sizeof(int)));
  if (!std::strcmp(which, "oob")) {
    past_the_end<<<1, 32>>>(d);
    check_sticky(cudaErrorIllegalAddress);
  } else if (!std::strcmp(which, "assert")) {
    asserts<<<1, 1>>>(1);
    check_sticky(cudaErrorAssert);
  } else if (!std::strcmp(which, "host")) {
    std::printf("%d\n", d[3]);
  } else if (!std::strcmp(which, "unsupported")) {
    cudaArray_t level;
    EXPECT_CODE(cudaGetMipmappedArrayLevel(&level, nullptr, 0), cudaErrorNotSupported);
    EXPECT_CODE(cudaGetLastError(), cudaErrorNotSupported);
    std::exit(argc > 2 ? std::atoi(argv[2]) : 0);
  } else {
    std::exit(std::atoi(which));
  }
  return finish();
}
