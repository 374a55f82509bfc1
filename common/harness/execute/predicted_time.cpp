#include "harness/execute/predicted_time.h"

#include <new>

#include "harness/plan/files.h"

namespace tilewise {

const warpsim::MachineCode& PredictedTime::code_of(const warpsim::ptx::Function& function,
                                                   const std::string& cubin,
                                                   const warpsim::Timing& timing) {
  auto [found, fresh] = codes_.try_emplace(function.name);
  if (!fresh) return found->second;
  if (!cubin.empty()) {
    try {
      for (const warpsim::CubinKernel& kernel : warpsim::read_cubin(read_file(cubin))) {
        if (kernel.name == function.name)
          return found->second = warpsim::decode_machine_code(kernel, function);
      }
    } catch (const std::runtime_error&) {
      // A file that cannot be read costs the prediction its basis, not the plan its execution; the
      // result says that PTX was used.
    }
  }
  return found->second = warpsim::estimate_machine_code(function, timing);
}

std::optional<warpsim::Prediction> PredictedTime::of(warpsim::Simulator& simulator,
                                                     const warpsim::Launch& launch,
                                                     uint32_t static_shared_bytes,
                                                     const KernelResources& resources,
                                                     const warpsim::Occupancy& occupancy) {
  if (!simulator.device().timing) return std::nullopt;
  warpsim::LaunchShape shape;
  shape.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  shape.warps_per_block = uint32_t((launch.block.count() + 31) / 32);
  shape.shared_bytes = static_shared_bytes + launch.dynamic_shared_bytes;
  shape.blocks_per_sm = occupancy.blocks_per_sm;
  const Key key{launch.module,
                launch.kernel,
                shape.grid,
                {launch.block.x, launch.block.y, launch.block.z},
                launch.dynamic_shared_bytes};
  auto [known, fresh] = known_.try_emplace(key);
  if (!fresh) return known->second;
  try {
    const auto profile =
        simulator.profile(launch, warpsim::blocks_to_profile(simulator.device(), shape));
    if (!profile) return std::nullopt;
    const warpsim::MachineCode& code =
        code_of(*profile->function, resources.cubin, *simulator.device().timing);
    return known->second = warpsim::predict(simulator.device(), shape, *profile, code);
  } catch (const std::bad_alloc&) {
    return std::nullopt;  // the traces of a very long kernel; everything else has been done
  }
}

}  // namespace tilewise
