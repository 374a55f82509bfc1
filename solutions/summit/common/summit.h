// What the rungs of the summit share: the problem, the list of rungs, error handling.
//
// Every rung computes P = M x N in plain float32 (FFMA, no tensor cores): M is j x k, N is k x l,
// P is j x l, all row-major without gaps. Any j, k, l >= 1 is correct on every rung; the pointers
// are device pointers and need 4-byte alignment only.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace summit {

struct Problem {
  const float* M;  // [j][k]
  const float* N;  // [k][l]
  float* P;        // [j][l], written entirely
  int j, k, l;     // each >= 1, and j * k, k * l, j * l < 2^31 * 4 elements
};

// One step of the ladder. `launch` queues the product on the stream and returns; it may keep
// scratch memory for the next call, so one rung must not run on two streams at once.
struct Rung {
  const char* name;
  const char* idea;
  void (*launch)(const Problem&, cudaStream_t);
};

void launch_01(const Problem&, cudaStream_t);
void launch_02(const Problem&, cudaStream_t);
void launch_03(const Problem&, cudaStream_t);
void launch_04(const Problem&, cudaStream_t);
void launch_05(const Problem&, cudaStream_t);
void launch_06(const Problem&, cudaStream_t);
void launch_07(const Problem&, cudaStream_t);
void launch_08(const Problem&, cudaStream_t);
void launch_best(const Problem&, cudaStream_t);  // whatever of rungs 08 to 11 suits the shape

// Rungs 10 and 11 are for thin products alone: up to 16 rows of M, up to 8 columns of N. Rung 11
// cuts k into about this many shares.
void launch_few_rows(const Problem&, cudaStream_t);
// The first also while it copies N to rows of `stride` floats, a multiple of 4 (k x stride); then
// it multiplies so many rows, at least p.j, of which the last may be zeros.
constexpr int rows_multiplied_copying(int rows) {
  return rows <= 4 ? 4 : rows <= 12 ? 12 : 16;
}
void launch_few_rows_copying(const Problem&, float* longer, int stride, cudaStream_t);
void launch_few_columns(const Problem&, int shares, cudaStream_t);

inline constexpr Rung kRungs[] = {
    {"01_register_tiles", "8 x 8 results per thread, tiles in shared memory", launch_01},
    {"02_async_copies", "cp.async, three stages, M kept along k", launch_02},
    {"03_warp_tiles", "8 x 16 results per thread, warps of 64 x 64", launch_03},
    {"04_tma_pipeline", "the copy engine fills swizzled stages, mbarriers", launch_04},
    {"05_producer_warps", "a warpgroup that only loads, setmaxnreg", launch_05},
    {"06_straight_block", "one straight block of 8 k-steps, control once a stage", launch_06},
    {"07_register_banks", "the same machine code, ordered by register bank", launch_07},
    {"08_even_waves", "the last wave shared out along k; any shape", launch_08},
    {"best", "the kernel of rungs 08 to 11 that suits the shape", launch_best},
};

__host__ __device__ inline int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// Number of multiprocessors of the current device.
int multiprocessors();

// Whether every row of a matrix with `columns` columns begins at a multiple of 16 bytes.
inline bool rows_are_aligned(const float* matrix, int columns) {
  return columns % 4 == 0 && reinterpret_cast<uintptr_t>(matrix) % 16 == 0;
}

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "summit: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

// Lets the kernel be launched with this much dynamic shared memory (48 KiB need no permission).
template <typename Kernel>
void allow_shared(Kernel kernel, int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "more shared memory");
}

}  // namespace summit
