#include "warpsim/model/launch_limits.h"

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

BrokenLimit broken(int cuda_error, Cause cause, uint64_t amount, uint64_t limit, Refusal refusal) {
  BrokenLimit result{cuda_error, {}};
  Diagnostic& d = result.finding;
  d.code = Code::kLaunchConfig;
  d.cause = cause;
  d.count = 1;
  d.amount = amount;
  d.limit = limit;
  d.refusal = std::move(refusal);
  d.message = sentence(d);
  return result;
}

std::optional<BrokenLimit> broken_shape(const Device& device, const Launch& launch) {
  const auto grid = as_array(launch.grid), block = as_array(launch.block);
  auto extent = [&](Cause cause, uint8_t axis, bool is_grid, uint64_t amount, uint64_t limit) {
    return broken(kInvalidConfiguration, cause, amount, limit,
                  {.block = block, .axis = axis, .is_grid = is_grid});
  };
  for (uint8_t axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 0 || block[axis] == 0)
      return extent(Cause::kZeroExtent, axis, block[axis] != 0, 0, 1);
  }
  const uint64_t threads = launch.block.count();
  if (threads > device.max_threads_per_block)
    return extent(Cause::kBlockThreads, 0, false, threads, device.max_threads_per_block);
  for (uint8_t axis = 0; axis < 3; ++axis) {
    if (block[axis] > device.max_block[axis])
      return extent(Cause::kBlockExtent, axis, false, block[axis], device.max_block[axis]);
    if (grid[axis] > device.max_grid[axis])
      return extent(Cause::kGridExtent, axis, true, grid[axis], device.max_grid[axis]);
  }
  return std::nullopt;
}

std::optional<BrokenLimit> broken_shared(const Device& device, const Launch& launch,
                                         const KernelLimits& kernel) {
  auto shared = [&](Cause cause, uint64_t amount, uint64_t limit, bool is_static = false) {
    return broken(kInvalidValue, cause, amount, limit,
                  {.is_static = is_static, .device = device.name});
  };
  const uint32_t usual = device.shared_bytes_per_block, most = device.shared_bytes_per_block_optin;
  if (kernel.static_shared_bytes > usual)
    return shared(Cause::kSharedMemory, kernel.static_shared_bytes, usual, true);
  const uint64_t total = uint64_t{kernel.static_shared_bytes} + launch.dynamic_shared_bytes;
  if (total > most) return shared(Cause::kSharedMemory, total, most);
  if (kernel.granted_dynamic_shared_bytes) {
    const uint32_t granted = *kernel.granted_dynamic_shared_bytes;
    if (launch.dynamic_shared_bytes <= granted) return std::nullopt;
    return shared(Cause::kSharedGranted, launch.dynamic_shared_bytes, granted);
  }
  if (total > usual) return shared(Cause::kSharedNotAsked, total, usual);
  return std::nullopt;
}

}  // namespace

std::optional<BrokenLimit> broken_limit(const Device& device, const Launch& launch,
                                        const KernelLimits& kernel) {
  if (auto shape = broken_shape(device, launch)) return shape;
  if (auto shared = broken_shared(device, launch, kernel)) return shared;
  const uint64_t threads = launch.block.count();
  const std::array<uint32_t, 3> block = as_array(launch.block);
  // The SM's partitions count as filled evenly.
  const uint32_t needed = model::registers_of_block(device, kernel.registers.value_or(0),
                                                    static_cast<uint32_t>(threads));
  if (needed > device.registers_per_block) {
    return broken(kOutOfResources, Cause::kRegisters, needed, device.registers_per_block,
                  {.block = block, .registers = *kernel.registers});
  }
  if (kernel.max_threads_per_block && threads > kernel.max_threads_per_block)
    return broken(kOutOfResources, Cause::kLaunchBounds, threads, kernel.max_threads_per_block, {});
  std::array<uint32_t, 3> required = kernel.required_block;
  if (required[0] == 0) return std::nullopt;
  for (uint32_t& side : required) side = std::max(side, 1u);
  if (block == required) return std::nullopt;
  return broken(kInvalidConfiguration, Cause::kRequiredBlock, threads,
                uint64_t{required[0]} * required[1] * required[2],
                {.block = block, .required_block = required});
}

}  // namespace warpsim
