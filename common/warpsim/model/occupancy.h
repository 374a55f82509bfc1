// How many blocks of one kernel fit an SM at once, limit by limit. occupancy() of device.h is made
// of it.

#pragma once

#include <cstdint>

#include "warpsim/device.h"

namespace warpsim::model {

inline constexpr uint32_t kWarpSize = 32;

// Blocks per SM, had it only this one limit.
struct BlockLimits {
  uint32_t threads = 0, blocks = 0, registers = 0, shared = 0;
};

// Registers that one block takes of an SM, allocation units included.
uint32_t registers_of_block(const Device& device, uint32_t registers, uint32_t threads);

// threads: 1 to Device::max_threads_per_block.
BlockLimits classic_limits(const Device& device, uint32_t registers, uint32_t shared_bytes,
                           uint32_t threads);  // compute capability 1.x, 2.x: occupancy_classic.cpp
// Later ones, through the CUDA toolkit's cuda_occupancy.h: occupancy_toolkit.cpp. Throws
// std::runtime_error if that does not know the device's compute capability.
BlockLimits toolkit_limits(const Device& device, uint32_t registers, uint32_t shared_bytes,
                           uint32_t threads);

}  // namespace warpsim::model
