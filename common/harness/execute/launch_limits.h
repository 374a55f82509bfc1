// Which limit of the device a launch breaks, in words and numbers.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "warpsim/device.h"
#include "warpsim/report.h"
#include "warpsim/sim.h"

namespace tilewise {

// What is known of one kernel beside its launch.
struct KernelLimits {
  uint32_t static_shared_bytes = 0;
  // Largest dynamic shared memory granted with cudaFuncSetAttribute; empty: never asked for.
  std::optional<uint32_t> granted_dynamic_shared_bytes = {};
  std::optional<uint32_t> registers = {};  // per thread
  uint32_t max_threads_per_block = 0;      // __launch_bounds__; 0: none
};

struct BrokenLimit {
  int cuda_error = 0;   // what the CUDA runtime returns: 9 invalid configuration, 1 invalid value,
                        // 701 out of resources
  std::string message;  // one or two sentences
};

std::optional<BrokenLimit> broken_limit(const warpsim::Device& device,
                                        const warpsim::Launch& launch, const KernelLimits& kernel);

// The report of a launch that was refused: status kBadLaunch and one launch-config diagnostic.
warpsim::LaunchReport refused(const warpsim::Launch& launch, const KernelLimits& kernel,
                              const BrokenLimit& limit);

// `tiled` from _Z5tiledPKfS0_Pfi, template arguments kept; the name itself if it is not mangled.
std::string source_name(const std::string& mangled);

}  // namespace tilewise
