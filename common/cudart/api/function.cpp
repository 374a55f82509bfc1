// What is known of a kernel: attributes, registers, occupancy.

#include <cstdlib>

#include "cudart/api/support.h"
#include "cudart/registers.h"
#include "warpsim/ptx/ir.h"

using namespace warpsim;
using namespace warpsim::cudart;

namespace {

constexpr int kMaxDynamicShared = 8, kPreferredCarveout = 9;  // cudaFuncAttribute

// PTX versions and targets as two digits: "sm_90" -> 90.
int target_number(const std::string& target) {
  size_t digits = target.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : std::atoi(target.c_str() + digits);
}

uint64_t constant_bytes(const ptx::Module& module) {
  uint64_t total = 0;
  for (const ptx::Variable& variable : module.variables) {
    if (variable.space == ptx::Space::kConst) total += variable.size_bytes;
  }
  return total;
}

uint32_t registers_of_kernel(Runtime& runtime, const RegisteredKernel& kernel) {
  return registers_of(*kernel.module, kernel.name, runtime.device());
}

Error set_attribute(Runtime& runtime, const void* function, int attribute, int value) {
  Error error;
  RegisteredKernel* kernel = runtime.kernel(function, &error);
  if (!kernel) return error;
  if (attribute == kMaxDynamicShared) {
    int64_t limit =
        int64_t{runtime.device().shared_bytes_per_block_optin} - kernel->info.static_shared_bytes;
    if (value < 0 || value > limit) return kInvalidValue;
    kernel->granted_dynamic_shared_bytes = static_cast<uint32_t>(value);
    runtime.backend().set_attribute(*kernel, "max_dynamic_shared_bytes", value);
    return kSuccess;
  }
  if (attribute == kPreferredCarveout) {
    if (value < -1 || value > 100) return kInvalidValue;
    kernel->shared_carveout = value;
    runtime.backend().set_attribute(*kernel, "preferred_shared_carveout", value);
    return kSuccess;
  }
  runtime.backend().not_provided("cudaFuncSetAttribute",
                                 "Attribute " + std::to_string(attribute) + " is not modelled.");
  return kNotSupported;
}

Error get_attributes(Runtime& runtime, FuncAttributes* result, const void* function) {
  if (!result) return kInvalidValue;
  Error error;
  RegisteredKernel* kernel = runtime.kernel(function, &error);
  if (!kernel) return error;
  const Device& device = runtime.device();
  const ptx::Module& module = runtime.backend().simulator().module(kernel->module->handle);
  *result = {};
  result->sharedSizeBytes = kernel->info.static_shared_bytes;
  result->constSizeBytes = constant_bytes(module);
  result->localSizeBytes = kernel->info.local_bytes;
  result->maxThreadsPerBlock =
      static_cast<int>(kernel->info.max_threads_per_block ? kernel->info.max_threads_per_block
                                                          : device.max_threads_per_block);
  result->numRegs = static_cast<int>(registers_of_kernel(runtime, *kernel));
  result->ptxVersion = target_number(module.target);
  result->binaryVersion = device.cc_major * 10 + device.cc_minor;
  uint32_t by_default = device.shared_bytes_per_block - kernel->info.static_shared_bytes;
  result->maxDynamicSharedSizeBytes =
      static_cast<int>(kernel->granted_dynamic_shared_bytes.value_or(by_default));
  result->preferredShmemCarveout = kernel->shared_carveout;
  return kSuccess;
}

Error blocks_per_sm(Runtime& runtime, int* blocks, const void* function, int threads,
                    size_t dynamic_shared) {
  if (!blocks || threads <= 0) return kInvalidValue;
  Error error;
  RegisteredKernel* kernel = runtime.kernel(function, &error);
  if (!kernel) return error;
  const Device& device = runtime.device();
  uint64_t shared = kernel->info.static_shared_bytes + dynamic_shared;
  *blocks = 0;
  if (static_cast<uint32_t>(threads) > device.max_threads_per_block ||
      shared > device.shared_bytes_per_block_optin)
    return kSuccess;
  *blocks =
      static_cast<int>(occupancy(device, registers_of_kernel(runtime, *kernel),
                                 static_cast<uint32_t>(shared), static_cast<uint32_t>(threads))
                           .blocks_per_sm);
  return kSuccess;
}

// The largest dynamic shared memory with which `blocks` blocks of `threads` threads share an SM.
Error available_shared(Runtime& runtime, size_t* bytes, const void* function, int blocks,
                       int threads) {
  if (!bytes || blocks <= 0 || threads <= 0) return kInvalidValue;
  Error error;
  RegisteredKernel* kernel = runtime.kernel(function, &error);
  if (!kernel) return error;
  const Device& device = runtime.device();
  uint32_t unit = std::max(1u, device.shared_unit_bytes);
  uint64_t each = device.shared_bytes_per_sm / static_cast<uint32_t>(blocks) / unit * unit;
  uint64_t taken =
      uint64_t{device.shared_bytes_reserved_per_block} + kernel->info.static_shared_bytes;
  each = std::min<uint64_t>(each > taken ? each - taken : 0,
                            device.shared_bytes_per_block_optin - kernel->info.static_shared_bytes);
  *bytes = each;
  return kSuccess;
}

}  // namespace

uint64_t warpsim::cudart::resident_blocks(Runtime& runtime, const RegisteredKernel& kernel,
                                          uint32_t threads, size_t dynamic_shared) {
  const Device& device = runtime.device();
  const uint64_t shared = kernel.info.static_shared_bytes + dynamic_shared;
  if (threads == 0 || threads > device.max_threads_per_block ||
      shared > device.shared_bytes_per_block_optin)
    return 0;
  const uint32_t registers = registers_of_kernel(runtime, kernel);
  return uint64_t{
             occupancy(device, registers, static_cast<uint32_t>(shared), threads).blocks_per_sm} *
         device.sm_count;
}

WARPSIM_API int cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return call("cudaFuncSetAttribute",
              [&](Runtime& rt) { return set_attribute(rt, function, attribute, value); });
}

WARPSIM_API int cudaFuncGetAttributes(FuncAttributes* attributes, const void* function) {
  return call("cudaFuncGetAttributes",
              [&](Runtime& rt) { return get_attributes(rt, attributes, function); });
}

WARPSIM_API int cudaFuncGetName(const char** name, const void* function) {
  return call("cudaFuncGetName", [&](Runtime& rt) {
    if (!name) return kInvalidValue;
    RegisteredKernel* kernel = rt.registry().find_kernel(function);
    if (!kernel) return kInvalidDeviceFunction;
    *name = kernel->name.c_str();
    return kSuccess;
  });
}

WARPSIM_API int cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                     size_t* bytes) {
  return call("cudaFuncGetParamInfo", [&](Runtime& rt) {
    Error error;
    const RegisteredKernel* kernel = rt.kernel(function, &error);
    if (!kernel) return error;
    if (!offset || index >= kernel->info.param_offsets.size()) return kInvalidValue;
    *offset = kernel->info.param_offsets[index];
    if (bytes) *bytes = kernel->info.param_sizes[index];
    return kSuccess;
  });
}

WARPSIM_API int cudaFuncSetCacheConfig(const void* function, int config) {
  return call("cudaFuncSetCacheConfig", [&](Runtime& rt) {
    if (config < 0 || config > 3) return kInvalidValue;
    return rt.registry().find_kernel(function) ? kSuccess : kInvalidDeviceFunction;
  });
}

WARPSIM_API int cudaFuncSetSharedMemConfig(const void* function, int config) {
  return cudaFuncSetCacheConfig(function, config);
}

WARPSIM_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_shared, unsigned flags) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Runtime& rt) {
    return flags > 1 ? kInvalidValue : blocks_per_sm(rt, blocks, function, threads, dynamic_shared);
  });
}

WARPSIM_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                              int threads, size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                dynamic_shared, 0);
}

WARPSIM_API int cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                          int blocks, int threads) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock",
              [&](Runtime& rt) { return available_shared(rt, bytes, function, blocks, threads); });
}
