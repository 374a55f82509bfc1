// Host side of the copy engine: tensor maps, and copies of matrices whose rows it cannot address.
#pragma once

#include "maps.h"
#include "summit.h"

namespace summit {

// Scratch device memory that grows and is reused from call to call. Not for two streams at once.
class Scratch {
 public:
  // At least `bytes`, 256-byte aligned, contents undefined; `cleared` zeroes them when they grow.
  void* get(size_t bytes, bool cleared = false);

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

// The two tensor maps of a product, boxes as in tile.cuh: M bm x 32 swizzled, N 32 x bn plain.
// The engine needs rows at multiples of 16 bytes; a matrix with others is first copied, on the
// stream, to scratch memory with longer rows. Where the matrices, their places and the boxes are
// those of the last call, so are the maps.
struct Operands {
  Maps maps;
  // The last `apart` rows of P are computed on the way, while N is copied (rung 10), and the maps
  // are for the rows before.
  Operands(Problem p, cudaStream_t stream, int bm = 256, int bn = 128, int apart = 0);
};

// The maps of a product whose M is read without a copy (shifted.cuh), by tiles of bm x bn; N and
// M's last rows are copied where they have to be. Needs j >= 256.
struct ShiftedOperands {
  ShiftedMaps maps;
  // `beside`: N is copied beside the product (copy_beside.h); 0, or the number of multiprocessors.
  ShiftedOperands(Problem p, cudaStream_t stream, int bm, int bn, int apart = 0, int beside = 0);
};

struct EarlyLaunch {
  dim3 grid;
  int threads, shared_bytes = 0;
};
// The kernel may start while the one before it ends; it calls wait_for_kernels_before().
template <typename... Parameters, typename... Arguments>
void launch_early(void (*kernel)(Parameters...), const EarlyLaunch& how, cudaStream_t stream,
                  Arguments... arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = how.grid, config.blockDim = how.threads, config.stream = stream;
  config.dynamicSmemBytes = how.shared_bytes;
  config.attrs = &early, config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "launch of a kernel");
}

// A kernel that is loaded from machine code (a cubin in memory) by name; loaded once per process.
CUfunction load_kernel(const unsigned char* cubin, const char* name, int shared_bytes);

}  // namespace summit
