// Which limit of the device or of its kernel a launch breaks, in words and numbers. The simulator
// refuses such launches; the runtime's recorder and the GPU side of the executor ask here as well.

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
  int cuda_error = 0;   // what the CUDA runtime returns: 9 invalid configuration, 1 invalid value,
                        // 701 out of resources
  std::string message;  // one or two sentences
  Cause cause = Cause::kNone;
  uint64_t amount = 0, limit = 0;  // what was asked for, what there is
};

// The finding that a refused launch is.
Diagnostic refused_launch(const std::string& kernel, const BrokenLimit& broken);

// The first limit that is broken: of the shape, of shared memory, of registers, of the kernel.
std::optional<BrokenLimit> broken_limit(const Device& device, const Launch& launch,
                                        const KernelLimits& kernel);

}  // namespace warpsim
