// Occupancy of compute capabilities that the CUDA toolkit still knows, by its own calculator.

#include <cuda_occupancy.h>

#include <algorithm>
#include <climits>
#include <stdexcept>

#include "warpsim/model/occupancy.h"

namespace warpsim::model {

namespace {

cudaOccDeviceProp properties_of(const Device& d) {
  cudaOccDeviceProp p;
  p.computeMajor = d.cc_major;
  p.computeMinor = d.cc_minor;
  p.maxThreadsPerBlock = int(d.max_threads_per_block);
  p.maxThreadsPerMultiprocessor = int(d.max_threads_per_sm);
  p.regsPerBlock = int(d.registers_per_block);
  p.regsPerMultiprocessor = int(d.registers_per_sm);
  p.warpSize = int(kWarpSize);
  p.sharedMemPerBlock = d.shared_bytes_per_block;
  p.sharedMemPerMultiprocessor = d.shared_bytes_per_sm;
  p.numSms = int(d.sm_count);
  p.sharedMemPerBlockOptin = d.shared_bytes_per_block_optin;
  p.reservedSharedMemPerBlock = d.shared_bytes_reserved_per_block;
  return p;
}

uint32_t at_least_none(int blocks) {
  return uint32_t(std::max(blocks, 0));
}

}  // namespace

// The whole shared memory of the block counts as opted in to, and the SM's carve-out as made as
// large as that needs, as the driver does by default.
BlockLimits toolkit_limits(const Device& d, uint32_t registers, uint32_t shared_bytes,
                           uint32_t threads) {
  const cudaOccDeviceProp properties = properties_of(d);
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = INT_MAX;
  kernel.numRegs = int(registers);
  kernel.sharedSizeBytes = 0;
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = d.shared_bytes_per_block_optin;
  kernel.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &kernel, &state, int(threads), shared_bytes);
  if (error != CUDA_OCC_SUCCESS) {
    throw std::runtime_error("cuda_occupancy.h of this CUDA toolkit has no rules for " + d.name +
                             " (compute capability " + std::to_string(d.cc_major) + "." +
                             std::to_string(d.cc_minor) + ")");
  }
  return {.threads = at_least_none(result.blockLimitWarps),
          .blocks = at_least_none(result.blockLimitBlocks),
          .registers = at_least_none(result.blockLimitRegs),
          .shared = at_least_none(result.blockLimitSharedMem)};
}

}  // namespace warpsim::model
