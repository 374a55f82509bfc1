// Which limit of the device or of its kernel a launch breaks. The simulator refuses such launches;
// the runtime's recorder and the GPU side of the executor ask here as well.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "warpsim/device.h"
#include "warpsim/finding.h"
#include "warpsim/sim.h"

namespace warpsim {

// What is known of one kernel beside its launch.
struct KernelLimits {
  uint32_t static_shared_bytes = 0;
  // Largest dynamic shared memory granted with cudaFuncSetAttribute; empty: never asked for.
  std::optional<uint32_t> granted_dynamic_shared_bytes = {};
  std::optional<uint32_t> registers = {};       // per thread; empty: not known, not looked at
  uint32_t max_threads_per_block = 0;           // __launch_bounds__; 0: none
  std::array<uint32_t, 3> required_block = {};  // the only block allowed; x 0: any, y or z 0: 1
};

struct BrokenLimit {
  int cuda_error = 0;  // what the CUDA runtime returns: 9 invalid configuration, 1 invalid value,
                       // 701 out of resources
  Diagnostic finding;  // launch-config, with its sentence; without the kernel's name
};

// The first limit that is broken: of the shape, of shared memory, of registers, of the kernel.
std::optional<BrokenLimit> broken_limit(const Device& device, const Launch& launch,
                                        const KernelLimits& kernel);

}  // namespace warpsim
