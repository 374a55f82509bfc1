// Data for timed runs: uniform in [-1, 1), a hash of seed and index, the same on host and GPU.
// (Zeros and constants would run up to 15% faster than random data.)

#pragma once

#include <cstdint>

#include "harness/execute/gpu_backend.h"
#include "plan/npy.h"

namespace tilewise {

// Element `index` of the matrix with this seed (below 2^24).
float uniform(uint64_t seed, uint64_t index);
Matrix uniform_matrix(uint32_t rows, uint32_t columns, uint64_t seed);

// PTX of the kernel tilewise_uniform(float* out, uint64 count, uint64 seed), one thread an element.
extern const char kUniformPtx[];

// Fills GPU memory with the same values. Loads the kernel once per backend.
class UniformOnGpu {
 public:
  explicit UniformOnGpu(GpuBackend& backend);
  void operator()(uint64_t address, uint64_t count, uint64_t seed);

 private:
  GpuBackend& backend_;
  int module_;
};

}  // namespace tilewise
