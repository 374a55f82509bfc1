// Predicted times of the launches of a plan: profiles each kernel once per shape and asks the
// model. Where it has no answer it says why.

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

struct Predicted {
  std::optional<warpsim::Prediction> prediction;
  // Why there is none, as what follows "No predicted time: "; empty if there is one, or if nothing
  // was asked.
  std::string refusal;
};

class PredictedTime {
 public:
  // No prediction where the device file has no speeds, the machine code is another device's, or the
  // kernel cannot be executed block by block or uses units the model does not know. `occupancy`: of
  // this launch.
  Predicted of(warpsim::Simulator& simulator, const warpsim::Launch& launch,
               uint32_t static_shared_bytes, const KernelResources& resources,
               const warpsim::Occupancy& occupancy);

  // What there is to say of a kernel whose registers are not known: without them it is not known
  // how many blocks run at the same time.
  static Predicted without_registers(const warpsim::Device& device);

 private:
  Predicted make(warpsim::Simulator& simulator, const warpsim::Launch& launch,
                 const warpsim::LaunchShape& shape, const std::string& cubin);
  using Key =
      std::tuple<int, std::string, std::array<uint32_t, 3>, std::array<uint32_t, 3>, uint32_t>;
  // What ptxas made of the kernel, or an estimate from PTX where there is no such file.
  const warpsim::MachineCode& code_of(const warpsim::ptx::Function& function,
                                      const std::string& cubin, const warpsim::Timing& timing);

  std::map<Key, Predicted> known_;
  std::map<std::string, warpsim::MachineCode> codes_;  // by kernel
};

}  // namespace tilewise
