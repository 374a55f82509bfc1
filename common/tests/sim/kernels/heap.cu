// malloc() and free() in kernels. The first word of `out` counts what came back as nullptr.

#include <cstdlib>

extern "C" __global__ void take(int* out, int bytes) {
  auto* p = static_cast<char*>(malloc(bytes));
  if (p == nullptr)
    atomicAdd(out, 1);
  else
    for (int i = 0; i < bytes; i += 64) p[i] = char(i);
}

extern "C" __global__ void take_and_free(int* out, int bytes, int times) {
  for (int i = 0; i < times; ++i) {
    auto* p = static_cast<int*>(malloc(bytes));
    if (p == nullptr) {
      atomicAdd(out, 1);
      continue;
    }
    *p = i;
    out[1 + threadIdx.x] = *p;
    free(p);
  }
}

// The same store before and after free(): what it found before must not be believed.
extern "C" __global__ void use_after_free(int* out, int times) {
  auto* p = static_cast<int*>(malloc(1024));
#pragma unroll 1
  for (int i = 0; i < times; ++i) {
    p[out[i]] = i;
    free(i == 0 ? p : nullptr);
  }
}

extern "C" __global__ void free_twice(int*) {
  auto* volatile p = static_cast<int*>(malloc(4));
  free(p);
  free(p);
}

extern "C" __global__ void free_foreign(int* out) { free(out); }
