// Kernel launches.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cudart/api/support.h"

using namespace warpsim;
using namespace warpsim::cudart;

namespace {

struct Configuration {
  Dim3Abi grid, block;
  size_t shared_bytes;
  void* stream;
  const void* caller = nullptr;
  bool is_cooperative = false, is_early = false;
};

// kernel<<<grid, block, shared, stream>>>(...) pushes a configuration and calls the kernel's host
// stub, which pops it.
thread_local std::vector<Configuration> t_configurations;
// Where the configuration that a stub has popped was pushed: the launch is there, not in the stub.
thread_local const void* t_popped_from = nullptr;

Dim3 dim3_of(const Dim3Abi& d) {
  return {d.x, d.y, d.z};
}

// The parameter block, laid out as the PTX says, from the addresses of the arguments.
std::vector<std::byte> parameter_block(const Simulator::KernelInfo& info, void** arguments) {
  std::vector<std::byte> block(info.param_bytes);
  for (size_t i = 0; i < info.param_offsets.size(); ++i)
    std::memcpy(block.data() + info.param_offsets[i], arguments[i], info.param_sizes[i]);
  return block;
}

[[gnu::always_inline]] inline Error launch_call(const char* api, const void* function,
                                                const Configuration& configuration,
                                                void** arguments) {
  return call(api, [&](Runtime& rt) {
    const void* from = std::exchange(t_popped_from, nullptr);
    if (from) rt.backend().called_from(from);
    const Configuration& c = configuration;
    KernelWork work;
    Error error = describe_launch(rt, function, c.grid, c.block, c.shared_bytes, c.is_cooperative,
                                  arguments, &work);
    if (error) return error;
    work.is_early = c.is_early;
    const Stream* stream = rt.find_stream(c.stream);
    if (stream && rt.captures().of(stream)) {
      if (Error wrong = check_launch(rt, work)) return wrong;
    }
    if (is_captured(rt, c.stream, work, &error)) return error;
    return launch(rt, work, c.stream, from != nullptr);
  });
}

LaunchRequest request_of(const KernelWork& work, uint32_t stream) {
  LaunchRequest request;
  request.kernel = work.kernel;
  request.grid = dim3_of(work.grid);
  request.block = dim3_of(work.block);
  request.stream = stream;
  request.params = work.params;
  request.dynamic_shared_bytes =
      static_cast<uint32_t>(std::min<size_t>(work.shared_bytes, UINT32_MAX));
  return request;
}

}  // namespace

namespace warpsim::cudart {

Error describe_launch(Runtime& runtime, const void* function, Dim3Abi grid, Dim3Abi block,
                      size_t shared_bytes, bool is_cooperative, void** arguments,
                      KernelWork* work) {
  Error error;
  RegisteredKernel* kernel = runtime.kernel(function, &error);
  if (!kernel) return error;
  if (!arguments && !kernel->info.param_offsets.empty()) return kInvalidValue;
  *work = {kernel,       function,       grid,  block,
           shared_bytes, is_cooperative, false, parameter_block(kernel->info, arguments)};
  return kSuccess;
}

Error check_launch(Runtime& runtime, const KernelWork& work) {
  const LaunchRequest request = request_of(work, 0);
  const auto broken =
      broken_limit(runtime.device(), launch_of(request), limits_of(*request.kernel));
  return broken ? static_cast<Error>(broken->cuda_error) : kSuccess;
}

Error launch(Runtime& runtime, const KernelWork& work, void* stream, bool drops_error) {
  const Stream* queue = runtime.find_stream(stream);
  if (!queue) return kInvalidResourceHandle;
  LaunchRequest request = request_of(work, queue->number);
  request.drops_error = drops_error;
  request.is_early = work.is_early;
  if (work.is_cooperative) {
    const uint64_t room =
        resident_blocks(runtime, *work.kernel, uint32_t(request.block.count()), work.shared_bytes);
    if (room != 0 && request.grid.count() > room) return kCooperativeLaunchTooLarge;
    request.is_cooperative = true;
  }
  runtime.callbacks().run_before_work(queue->number);
  Error later = kSuccess;
  const Error error = runtime.backend().launch(request, &later);
  if (later) runtime.kernel_faulted(later);
  return error;
}

}  // namespace warpsim::cudart

WARPSIM_API unsigned __cudaPushCallConfiguration(Dim3Abi grid, Dim3Abi block, size_t shared_bytes,
                                                 void* stream) {
  t_configurations.push_back({grid, block, shared_bytes, stream, __builtin_return_address(0)});
  return kSuccess;
}

WARPSIM_API int __cudaPopCallConfiguration(Dim3Abi* grid, Dim3Abi* block, size_t* shared_bytes,
                                           void** stream) {
  if (t_configurations.empty()) return kMissingConfiguration;
  const Configuration& top = t_configurations.back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *stream = top.stream;
  t_popped_from = top.caller;
  t_configurations.pop_back();
  return kSuccess;
}

// CUDA 13's host stubs ask once for a handle and launch with it; those of 12 launch by the host
// function.
WARPSIM_API int __cudaGetKernel(void** handle, const void* host_function) {
  return call("cudaGetKernel", [&](Runtime& rt) {
    RegisteredKernel* kernel = rt.registry().find_kernel(host_function);
    *handle = kernel;
    return kernel ? kSuccess : kInvalidDeviceFunction;
  });
}

WARPSIM_API int cudaGetKernel(void** handle, const void* host_function) {
  return handle ? __cudaGetKernel(handle, host_function) : kInvalidValue;
}

WARPSIM_API int cudaGetFuncBySymbol(void** handle, const void* host_function) {
  return cudaGetKernel(handle, host_function);
}

WARPSIM_API int __cudaLaunchKernel(void* kernel, Dim3Abi grid, Dim3Abi block, void** arguments,
                                   size_t shared_bytes, void* stream) {
  return launch_call("cudaLaunchKernel", kernel, {grid, block, shared_bytes, stream}, arguments);
}

WARPSIM_API int cudaLaunchKernel(const void* function, Dim3Abi grid, Dim3Abi block,
                                 void** arguments, size_t shared_bytes, void* stream) {
  return launch_call("cudaLaunchKernel", function, {grid, block, shared_bytes, stream}, arguments);
}

WARPSIM_API int cudaLaunchKernelExC(const LaunchConfig* config, const void* function,
                                    void** arguments) {
  if (!config) return call("cudaLaunchKernelExC", [](Runtime&) { return kInvalidValue; });
  Configuration asked{config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const LaunchAttribute& attribute = config->attrs[i];
    const Dim3Abi& cluster = attribute.val.clusterDim;
    asked.is_cooperative |= attribute.id == kAttributeCooperative && attribute.val.cooperative;
    // As cooperative, an int that is the first of its union.
    asked.is_early |=
        attribute.id == kAttributeProgrammaticSerialization && attribute.val.cooperative;
    if (attribute.id == kAttributeClusterDimension &&
        (cluster.x > 1 || cluster.y > 1 || cluster.z > 1))
      return not_provided("cudaLaunchKernelExC", "Thread block clusters are not modelled.");
    if (attribute.id == kAttributeProgrammaticEvent || attribute.id == kAttributeCompletionEvent)
      return not_provided("cudaLaunchKernelExC", "Events of a launch itself are not modelled.");
  }
  return launch_call("cudaLaunchKernelExC", function, asked, arguments);
}

WARPSIM_API int cudaLaunchCooperativeKernel(const void* function, Dim3Abi grid, Dim3Abi block,
                                            void** arguments, size_t shared_bytes, void* stream) {
  return launch_call("cudaLaunchCooperativeKernel", function,
                     {grid, block, shared_bytes, stream, nullptr, true}, arguments);
}
