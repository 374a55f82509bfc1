// Predicted times of the launches of a plan: profiles each kernel once per shape and asks the model.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "harness/execute/resources.h"
#include "warpsim/model/machine_code.h"
#include "warpsim/model/predict.h"
#include "warpsim/sim.h"

namespace tilewise {

class PredictedTime {
 public:
  // Empty where the model has nothing to say: no speeds in the device file, a kernel that cannot be
  // executed block by block or uses units the model does not know. `occupancy`: of this launch.
  std::optional<warpsim::Prediction> of(warpsim::Simulator& simulator,
                                        const warpsim::Launch& launch, uint32_t static_shared_bytes,
                                        const KernelResources& resources,
                                        const warpsim::Occupancy& occupancy);

 private:
  using Key = std::tuple<int, std::string, std::array<uint32_t, 3>, std::array<uint32_t, 3>, uint32_t>;
  // What ptxas made of the kernel, or an estimate from PTX where there is no such file.
  const warpsim::MachineCode& code_of(const warpsim::ptx::Function& function,
                                      const std::string& cubin, const warpsim::Timing& timing);

  std::map<Key, std::optional<warpsim::Prediction>> known_;
  std::map<std::string, warpsim::MachineCode> codes_;  // by kernel
};

}  // namespace tilewise
