// What rungs 10 and 11 share on the host: scratch memory, and a launch that overlaps the kernel
// before it.
#pragma once

#include "common/operands.h"

namespace summit {

// Parts of sums, and counters that are zero before and after every launch.
class ThinScratch {
 public:
  float* parts(size_t floats) { return static_cast<float*>(parts_.get(floats * sizeof(float))); }
  unsigned* counters(size_t count) {
    return static_cast<unsigned*>(counters_.get(count * sizeof(unsigned), true));
  }

 private:
  Scratch parts_, counters_;
};

// The kernel may start while the one before it ends; it calls wait_for_kernels_before().
template <typename... Parameters, typename... Arguments>
void launch_early(void (*kernel)(Parameters...), dim3 grid, int threads, cudaStream_t stream,
                  Arguments... arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid, config.blockDim = threads, config.stream = stream;
  config.attrs = &early, config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "launch of a thin product");
}

}  // namespace summit
