// Whether a launch's configuration is one that the device can run.

#pragma once

#include <string>

#include "warpsim/exec/image.h"
#include "warpsim/sim.h"

namespace warpsim {

struct ConfigurationFault {
  int cuda_error = 0;   // 0: none
  std::string message;  // names the limit
};
ConfigurationFault check_configuration(const Device& device, const ptx::Function& kernel,
                                       const KernelFacts& facts, const Launch& launch);

}  // namespace warpsim
