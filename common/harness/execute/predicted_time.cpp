#include "harness/execute/predicted_time.h"

#include <new>

#include "plan/files.h"

namespace tilewise {

namespace {

// "7.5" of 75.
std::string capability(int architecture) {
  return std::to_string(architecture / 10) + "." + std::to_string(architecture % 10);
}

// 75: the code in this file is for compute capability 7.5; 0: no file, or none that can be read.
int architecture_of(const std::string& cubin) {
  if (cubin.empty()) return 0;
  try {
    const auto kernels = warpsim::read_cubin(read_file(cubin));
    return kernels.empty() ? 0 : kernels[0].architecture;
  } catch (const std::runtime_error&) {
    return 0;
  }
}

}  // namespace

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

Predicted PredictedTime::of(warpsim::Simulator& simulator, const warpsim::Launch& launch,
                            uint32_t static_shared_bytes, const KernelResources& resources,
                            const warpsim::Occupancy& occupancy) {
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
  if (fresh) known->second = make(simulator, launch, shape, resources.cubin);
  return known->second;
}

Predicted PredictedTime::make(warpsim::Simulator& simulator, const warpsim::Launch& launch,
                              const warpsim::LaunchShape& shape, const std::string& cubin) {
  const warpsim::Device& device = simulator.device();
  if (const int made_for = architecture_of(cubin);
      made_for != 0 && made_for != device.cc_major * 10 + device.cc_minor) {
    return {{},
            "the CUDA compiler in use makes no code for compute capability " +
                capability(device.cc_major * 10 + device.cc_minor) +
                "; registers and occupancy are those of its code for " + capability(made_for) +
                "."};
  }
  if (!device.timing) {
    return {{}, "the device file " + device.id + ".json has no speeds (\"timing\")."};
  }
  try {
    std::string refusal;
    const auto profile =
        simulator.profile(launch, warpsim::blocks_to_profile(device, shape), &refusal);
    if (!profile) return {{}, refusal};
    const warpsim::MachineCode& code = code_of(*profile->function, cubin, *device.timing);
    if (auto prediction = warpsim::predict(device, shape, *profile, code)) return {prediction, ""};
    return {{},
            "the kernel uses tensor cores in a way whose speed the model does not know for this "
            "device."};
  } catch (const std::bad_alloc&) {  // everything else has been done
    return {{}, "the kernel makes more memory accesses than can be kept."};
  }
}

Predicted PredictedTime::without_registers(const warpsim::Device& device) {
  const std::string cc = capability(device.cc_major * 10 + device.cc_minor);
  constexpr int kOldestCompiled = 5;  // major; of the toolkits that the grader works with
  if (device.cc_major < kOldestCompiled) {
    return {{},
            "today's CUDA compilers make no code for compute capability " + cc +
                ", so that the registers per thread, and with them the blocks that run at the same "
                "time, are not known."};
  }
  return {{},
          "ptxas makes no code of this kernel for compute capability " + cc +
              ", so that its registers per thread are not known."};
}

}  // namespace tilewise
