#include "warpsim/exec/launch_config.h"

#include <algorithm>

namespace warpsim {

namespace {

constexpr int kInvalidValue = 1;            // cudaErrorInvalidValue
constexpr int kInvalidConfiguration = 9;    // cudaErrorInvalidConfiguration
constexpr int kLaunchOutOfResources = 701;  // cudaErrorLaunchOutOfResources

std::string triple(const Dim3& d) {
  return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) + ")";
}

ConfigurationFault check_dimensions(const Device& device, const Launch& launch) {
  const uint32_t block[3] = {launch.block.x, launch.block.y, launch.block.z};
  const uint32_t grid[3] = {launch.grid.x, launch.grid.y, launch.grid.z};
  for (int i = 0; i < 3; ++i) {
    const char* axis = i == 0 ? "x" : i == 1 ? "y" : "z";
    if (grid[i] == 0)
      return {kInvalidConfiguration,
              "the grid " + triple(launch.grid) + " has no blocks in " + axis};
    if (block[i] == 0)
      return {kInvalidConfiguration,
              "the block " + triple(launch.block) + " has no threads in " + axis};
    if (block[i] > device.max_block[size_t(i)]) {
      return {kInvalidConfiguration, "the block " + triple(launch.block) + " is larger in " + axis +
                                         " than the limit of " +
                                         std::to_string(device.max_block[size_t(i)]) + " threads"};
    }
    if (grid[i] > device.max_grid[size_t(i)]) {
      return {kInvalidConfiguration, "the grid " + triple(launch.grid) + " is larger in " + axis +
                                         " than the limit of " +
                                         std::to_string(device.max_grid[size_t(i)]) + " blocks"};
    }
  }
  if (launch.block.count() > device.max_threads_per_block) {
    return {kInvalidConfiguration, "the block " + triple(launch.block) + " has " +
                                       std::to_string(launch.block.count()) +
                                       " threads; the limit is " +
                                       std::to_string(device.max_threads_per_block) + " per block"};
  }
  return {};
}

ConfigurationFault check_kernel_bounds(const ptx::Function& kernel, const Launch& launch) {
  if (kernel.max_threads_per_block != 0 && launch.block.count() > kernel.max_threads_per_block) {
    return {kLaunchOutOfResources, "the block " + triple(launch.block) + " has " +
                                       std::to_string(launch.block.count()) +
                                       " threads; the kernel's __launch_bounds__ allow " +
                                       std::to_string(kernel.max_threads_per_block)};
  }
  const uint32_t* required = kernel.required_block;
  if (required[0] != 0 &&
      (launch.block.x != required[0] || launch.block.y != std::max(1u, required[1]) ||
       launch.block.z != std::max(1u, required[2]))) {
    return {kInvalidConfiguration,
            "the block " + triple(launch.block) + " is not the one that the kernel requires, " +
                triple({required[0], std::max(1u, required[1]), std::max(1u, required[2])})};
  }
  return {};
}

ConfigurationFault check_shared(const Device& device, const KernelFacts& facts,
                                const Launch& launch) {
  if (facts.static_shared_bytes > device.shared_bytes_per_block) {
    return {kInvalidValue, "the kernel has " + std::to_string(facts.static_shared_bytes) +
                               " bytes of static shared memory; the limit is " +
                               std::to_string(device.shared_bytes_per_block) +
                               ": larger tiles need dynamic shared memory"};
  }
  const uint64_t total = uint64_t{facts.static_shared_bytes} + launch.dynamic_shared_bytes;
  const uint32_t limit = launch.max_dynamic_shared_bytes != 0 ? device.shared_bytes_per_block_optin
                                                              : device.shared_bytes_per_block;
  const std::string sizes = std::to_string(facts.static_shared_bytes) + " bytes of static and " +
                            std::to_string(launch.dynamic_shared_bytes) +
                            " bytes of dynamic shared memory";
  if (launch.max_dynamic_shared_bytes != 0 &&
      launch.dynamic_shared_bytes >
          std::max(launch.max_dynamic_shared_bytes, device.shared_bytes_per_block)) {
    return {kInvalidValue, "the launch asks for " + sizes + "; cudaFuncSetAttribute allowed " +
                               std::to_string(launch.max_dynamic_shared_bytes) +
                               " bytes of dynamic shared memory"};
  }
  if (total > limit) {
    return {kInvalidValue, "the launch asks for " + sizes + "; the limit is " +
                               std::to_string(limit) + " bytes per block" +
                               (limit < device.shared_bytes_per_block_optin &&
                                        total <= device.shared_bytes_per_block_optin
                                    ? ", unless cudaFuncSetAttribute raises it"
                                    : "")};
  }
  return {};
}

}  // namespace

ConfigurationFault check_configuration(const Device& device, const ptx::Function& kernel,
                                       const KernelFacts& facts, const Launch& launch) {
  ConfigurationFault fault = check_dimensions(device, launch);
  if (fault.cuda_error == 0) fault = check_kernel_bounds(kernel, launch);
  if (fault.cuda_error == 0) fault = check_shared(device, facts, launch);
  return fault;
}

}  // namespace warpsim
