#include "warpsim/model/launch_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "warpsim/finding_text.h"
#include "warpsim/model/occupancy.h"

namespace warpsim {

namespace {

constexpr int kInvalidValue = 1;          // cudaErrorInvalidValue
constexpr int kInvalidConfiguration = 9;  // cudaErrorInvalidConfiguration
constexpr int kOutOfResources = 701;      // cudaErrorLaunchOutOfResources

std::array<uint32_t, 3> as_array(const Dim3& d) {
  return {d.x, d.y, d.z};
}

std::optional<BrokenLimit> broken_shape(const Device& device, const Launch& launch) {
  static const char* kAxis[] = {"x", "y", "z"};
  auto grid = as_array(launch.grid), block = as_array(launch.block);
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 0 || block[axis] == 0) {
      return BrokenLimit{
          kInvalidConfiguration,
          fmt::format("The {} has 0 in {}: every dimension of grid and block is at least 1.",
                      block[axis] == 0 ? "block" : "grid", kAxis[axis]),
          Cause::kZeroExtent, 0, 1};
    }
  }
  if (launch.block.count() > device.max_threads_per_block) {
    return BrokenLimit{
        kInvalidConfiguration,
        fmt::format("A block of {}x{}x{} = {} threads: at most {} threads fit in a block.",
                    block[0], block[1], block[2], launch.block.count(),
                    device.max_threads_per_block),
        Cause::kBlockThreads, launch.block.count(), device.max_threads_per_block};
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (block[axis] > device.max_block[axis]) {
      return BrokenLimit{kInvalidConfiguration,
                         fmt::format("The block has {} threads in {}: at most {}.", block[axis],
                                     kAxis[axis], device.max_block[axis]),
                         Cause::kBlockExtent, block[axis], device.max_block[axis]};
    }
    if (grid[axis] > device.max_grid[axis]) {
      return BrokenLimit{kInvalidConfiguration,
                         fmt::format("The grid has {} blocks in {}: at most {}.", grid[axis],
                                     kAxis[axis], device.max_grid[axis]),
                         Cause::kGridExtent, grid[axis], device.max_grid[axis]};
    }
  }
  return std::nullopt;
}

std::optional<BrokenLimit> broken_shared(const Device& device, const Launch& launch,
                                         const KernelLimits& kernel) {
  if (kernel.static_shared_bytes > device.shared_bytes_per_block) {
    return BrokenLimit{kInvalidValue,
                       fmt::format("The kernel declares {} bytes of static shared memory: at most "
                                   "{}, larger tiles need dynamic shared memory.",
                                   kernel.static_shared_bytes, device.shared_bytes_per_block),
                       Cause::kSharedMemory, kernel.static_shared_bytes,
                       device.shared_bytes_per_block};
  }
  uint64_t total = uint64_t{kernel.static_shared_bytes} + launch.dynamic_shared_bytes;
  if (total > device.shared_bytes_per_block_optin) {
    return BrokenLimit{
        kInvalidValue,
        fmt::format("The block asks for {} bytes of shared memory: {} has at most {} a block.",
                    total, device.name, device.shared_bytes_per_block_optin),
        Cause::kSharedMemory, total, device.shared_bytes_per_block_optin};
  }
  if (kernel.granted_dynamic_shared_bytes) {
    if (launch.dynamic_shared_bytes <= *kernel.granted_dynamic_shared_bytes) return std::nullopt;
    return BrokenLimit{
        kInvalidValue,
        fmt::format("The launch asks for {} bytes of dynamic shared "
                    "memory, cudaFuncSetAttribute granted {}.",
                    launch.dynamic_shared_bytes, *kernel.granted_dynamic_shared_bytes),
        Cause::kSharedGranted, launch.dynamic_shared_bytes, *kernel.granted_dynamic_shared_bytes};
  }
  if (total > device.shared_bytes_per_block) {
    return BrokenLimit{
        kInvalidValue,
        fmt::format(
            "The block asks for {} bytes of shared memory: above {} a kernel must first ask for "
            "more with "
            "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes).",
            total, device.shared_bytes_per_block),
        Cause::kSharedNotAsked, total, device.shared_bytes_per_block};
  }
  return std::nullopt;
}

}  // namespace

std::optional<BrokenLimit> broken_limit(const Device& device, const Launch& launch,
                                        const KernelLimits& kernel) {
  if (auto shape = broken_shape(device, launch)) return shape;
  if (auto shared = broken_shared(device, launch, kernel)) return shared;
  uint64_t threads = launch.block.count();
  // The SM's partitions count as filled evenly.
  uint32_t needed = model::registers_of_block(device, kernel.registers.value_or(0),
                                              static_cast<uint32_t>(threads));
  if (needed > device.registers_per_block) {
    return BrokenLimit{
        kOutOfResources,
        fmt::format("{} threads with {} registers each need {} registers: a block has {}.", threads,
                    *kernel.registers, needed, device.registers_per_block),
        Cause::kRegisters, needed, device.registers_per_block};
  }
  if (kernel.max_threads_per_block && threads > kernel.max_threads_per_block) {
    return BrokenLimit{
        kOutOfResources,
        fmt::format("A block of {} threads, but __launch_bounds__ promises at most {}.", threads,
                    kernel.max_threads_per_block),
        Cause::kLaunchBounds, threads, kernel.max_threads_per_block};
  }
  std::array<uint32_t, 3> required = kernel.required_block, block = as_array(launch.block);
  if (required[0] == 0) return std::nullopt;
  for (uint32_t& side : required) side = std::max(side, 1u);
  if (block == required) return std::nullopt;
  return BrokenLimit{kInvalidConfiguration,
                     fmt::format("A block of {}, but the kernel is made for blocks of {}.",
                                 fmt::join(block, "x"), fmt::join(required, "x")),
                     Cause::kRequiredBlock, threads,
                     uint64_t{required[0]} * required[1] * required[2]};
}

Diagnostic refused_launch(const std::string& kernel, const BrokenLimit& broken) {
  Diagnostic d;
  d.code = Code::kLaunchConfig;
  d.cause = broken.cause;
  d.kernel = kernel;
  d.count = 1;
  d.amount = broken.amount;
  d.limit = broken.limit;
  d.words = broken.message;
  d.message = sentence(d);
  return d;
}

}  // namespace warpsim
