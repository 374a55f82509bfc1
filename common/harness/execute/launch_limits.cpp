#include "harness/execute/launch_limits.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>

#include "warpsim/model/occupancy.h"

namespace tilewise {

namespace {

constexpr int kInvalidValue = 1;
constexpr int kInvalidConfiguration = 9;
constexpr int kOutOfResources = 701;

std::array<uint32_t, 3> as_array(const warpsim::Dim3& d) {
  return {d.x, d.y, d.z};
}

std::optional<BrokenLimit> broken_shape(const warpsim::Device& device,
                                        const warpsim::Launch& launch) {
  static const char* kAxis[] = {"x", "y", "z"};
  auto grid = as_array(launch.grid), block = as_array(launch.block);
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 0 || block[axis] == 0) {
      return BrokenLimit{
          kInvalidConfiguration,
          fmt::format("The {} has 0 in {}: every dimension of grid and block is at least 1.",
                      block[axis] == 0 ? "block" : "grid", kAxis[axis])};
    }
  }
  if (launch.block.count() > device.max_threads_per_block) {
    return BrokenLimit{
        kInvalidConfiguration,
        fmt::format("A block of {}x{}x{} = {} threads: at most {} threads fit in a block.",
                    block[0], block[1], block[2], launch.block.count(),
                    device.max_threads_per_block)};
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (block[axis] > device.max_block[axis]) {
      return BrokenLimit{kInvalidConfiguration,
                         fmt::format("The block has {} threads in {}: at most {}.", block[axis],
                                     kAxis[axis], device.max_block[axis])};
    }
    if (grid[axis] > device.max_grid[axis]) {
      return BrokenLimit{kInvalidConfiguration,
                         fmt::format("The grid has {} blocks in {}: at most {}.", grid[axis],
                                     kAxis[axis], device.max_grid[axis])};
    }
  }
  return std::nullopt;
}

std::optional<BrokenLimit> broken_shared(const warpsim::Device& device,
                                         const warpsim::Launch& launch,
                                         const KernelLimits& kernel) {
  uint64_t total = uint64_t{kernel.static_shared_bytes} + launch.dynamic_shared_bytes;
  if (total > device.shared_bytes_per_block_optin) {
    return BrokenLimit{
        kInvalidValue,
        fmt::format("The block asks for {} bytes of shared memory: {} has at most {} a block.",
                    total, device.name, device.shared_bytes_per_block_optin)};
  }
  if (kernel.granted_dynamic_shared_bytes) {
    if (launch.dynamic_shared_bytes <= *kernel.granted_dynamic_shared_bytes) return std::nullopt;
    return BrokenLimit{kInvalidValue, fmt::format("The launch asks for {} bytes of dynamic shared "
                                                  "memory, cudaFuncSetAttribute granted {}.",
                                                  launch.dynamic_shared_bytes,
                                                  *kernel.granted_dynamic_shared_bytes)};
  }
  if (total > device.shared_bytes_per_block) {
    return BrokenLimit{
        kInvalidValue,
        fmt::format(
            "The block asks for {} bytes of shared memory: above {} a kernel must first ask for "
            "more with "
            "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes).",
            total, device.shared_bytes_per_block)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<BrokenLimit> broken_limit(const warpsim::Device& device,
                                        const warpsim::Launch& launch, const KernelLimits& kernel) {
  if (auto shape = broken_shape(device, launch)) return shape;
  if (auto shared = broken_shared(device, launch, kernel)) return shared;
  uint64_t threads = launch.block.count();
  // The SM's partitions count as filled evenly.
  uint32_t needed = warpsim::model::registers_of_block(device, kernel.registers.value_or(0),
                                                       static_cast<uint32_t>(threads));
  if (needed > device.registers_per_block) {
    return BrokenLimit{
        kOutOfResources,
        fmt::format("{} threads with {} registers each need {} registers: a block has {}.", threads,
                    *kernel.registers, needed, device.registers_per_block)};
  }
  if (kernel.max_threads_per_block && threads > kernel.max_threads_per_block) {
    return BrokenLimit{
        kOutOfResources,
        fmt::format("A block of {} threads, but __launch_bounds__ promises at most {}.", threads,
                    kernel.max_threads_per_block)};
  }
  return std::nullopt;
}

warpsim::LaunchReport refused(const warpsim::Launch& launch, const KernelLimits& kernel,
                              const BrokenLimit& limit) {
  warpsim::LaunchReport report;
  report.status = warpsim::LaunchStatus::kBadLaunch;
  report.cuda_error = limit.cuda_error;
  report.message = limit.message;
  report.kernel = source_name(launch.kernel);
  report.mangled = launch.kernel;
  report.grid = as_array(launch.grid);
  report.block = as_array(launch.block);
  report.static_shared_bytes = kernel.static_shared_bytes;
  report.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  warpsim::Diagnostic diagnostic;
  diagnostic.code = "launch-config";
  diagnostic.message = limit.message;
  diagnostic.kernel = report.kernel;
  diagnostic.count = 1;
  report.diagnostics.push_back(diagnostic);
  return report;
}

std::string source_name(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (!text) return mangled;
  std::string name(text);
  std::free(text);
  // Without the parameter list: the last '(' that is not inside template arguments.
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && name.compare(i, 21, "(anonymous namespace)") != 0) {
      name.resize(i);
      break;
    }
  }
  // A template's name starts with its return type.
  if (name.rfind("void ", 0) == 0) name = name.substr(5);
  return name;
}

}  // namespace tilewise
