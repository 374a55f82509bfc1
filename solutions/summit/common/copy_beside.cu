// Copying N beside the product: all multiprocessors copy the first rows, then all but STAYERS
// blocks end, and the product's blocks take their places. The stayers go on, slice after slice of
// rows, and say of each when it is complete; the product's producers wait for the slices that they
// need next.
//
// What is copied beside costs nothing where the product leaves some multiprocessors idle: 1999 x
// 1999 results are 128 tiles, for 132. They take 310 microseconds, and copying all of N before 12.
#include <algorithm>

#include "copy_beside.h"
#include "operands.h"
#include "ptx.cuh"

namespace summit {
namespace {

constexpr int COPIERS = 1024, WARPS = COPIERS / 32;  // threads and warps of a block
constexpr int AT_ONCE = 16;                          // floats that a lane reads before it writes
constexpr int SEGMENT = 32 * AT_ONCE;                // floats that a warp copies of a row
// Shared memory that none of it needs: a multiprocessor is to have one block of it.
constexpr int kWhole = 128 << 10;

struct Copy {
  const float* from;
  float* to;
  int rows, columns, stride;
};

// Segments of rows [first, end), of which this warp takes every `warps`-th from `warp` on.
__device__ __forceinline__ void copy_rows(const Copy& c, int first, int end, int warp, int warps) {
  int segments = ceil_div(c.stride, SEGMENT), lane = threadIdx.x % 32;
  for (int task = warp; task < (end - first) * segments; task += warps) {
    int row = first + task / segments, at = task % segments * SEGMENT + lane;
    const float* from = c.from + size_t(row) * c.columns;
    float* to = c.to + size_t(row) * c.stride;
    float v[AT_ONCE];
#pragma unroll
    for (int q = 0; q < AT_ONCE; ++q)
      v[q] = at + q * 32 < c.columns ? __ldcs(from + at + q * 32) : 0.0f;
#pragma unroll
    for (int q = 0; q < AT_ONCE; ++q)
      if (at + q * 32 < c.stride) to[at + q * 32] = v[q];
  }
}

// first_done counts blocks that have copied their share of the first rows; slices[s * STAYERS + b]
// becomes `epoch` when stayer b has copied its rows of slice s.
__global__ void __launch_bounds__(COPIERS, 1)
    copy_rows_beside(Copy c, int first_rows, unsigned* first_done, unsigned* slices,
                     unsigned epoch) {
  start_next_kernel();
  wait_for_kernels_before();
  int warp = threadIdx.x / 32;
  copy_rows(c, 0, first_rows, warp * gridDim.x + blockIdx.x, gridDim.x * WARPS);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();  // the block's copies are visible before they are counted
    atomicAdd(first_done, 1u);
  }
  if (blockIdx.x >= STAYERS) return;
  constexpr int kRows = SLICE_ROWS / STAYERS;
  for (int row = first_rows; row < c.rows; row += SLICE_ROWS) {
    int mine = row + blockIdx.x * kRows;
    copy_rows(c, mine, min(mine + kRows, c.rows), warp, WARPS);
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      static_cast<volatile unsigned*>(slices)[row / SLICE_ROWS * STAYERS + blockIdx.x] = epoch;
    }
  }
}

}  // namespace

Progress copy_beside(const float* from, float* to, int rows, int columns, int stride,
                     int multiprocessors, cudaStream_t stream) {
  static Scratch counter, flags;
  static unsigned epoch, blocks;  // launches, and blocks of all launches
  int slices = ceil_div(rows, SLICE_ROWS), first_rows = std::min(rows, kRowsBefore);
  // The counter has memory of its own: it must never begin anew. Flags that do are not this
  // epoch's.
  auto first_done = static_cast<unsigned*>(counter.get(sizeof(unsigned), true));
  void* flag = flags.get(size_t(slices) * STAYERS * sizeof(unsigned), true);
  ++epoch, blocks += multiprocessors;
  static const bool allowed = (allow_shared(copy_rows_beside, kWhole), true);
  static_cast<void>(allowed);
  launch_early(copy_rows_beside, {dim3(multiprocessors), COPIERS, kWhole}, stream,
               Copy{from, to, rows, columns, stride}, first_rows, first_done,
               static_cast<unsigned*>(flag), epoch);
  return {first_done, static_cast<const uint4*>(flag),  blocks,
          epoch,      ceil_div(first_rows, SLICE_ROWS), slices};
}

}  // namespace summit
