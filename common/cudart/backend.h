// What the API does when a call has been checked: at once on the simulator (live), or as an entry
// of a launch plan (record). The API above it validates, keeps handles and errors, and knows
// nothing of either.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cudart/abi.h"
#include "cudart/address_map.h"
#include "cudart/registry.h"
#include "warpsim/model/launch_limits.h"
#include "warpsim/sim.h"

namespace warpsim::cudart {

// A launch whose kernel and stream exist; the configuration has not been looked at.
struct LaunchRequest {
  RegisteredKernel* kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  uint32_t stream = 0;
  std::vector<std::byte> params;
};

inline KernelLimits limits_of(const RegisteredKernel& kernel) {
  return {.static_shared_bytes = kernel.info.static_shared_bytes,
          .granted_dynamic_shared_bytes = kernel.granted_dynamic_shared_bytes,
          .registers = {},
          .max_threads_per_block = kernel.info.max_threads_per_block};
}

inline Launch launch_of(const LaunchRequest& request) {
  return {.module = request.kernel->module->handle,
          .kernel = request.kernel->name,
          .grid = request.grid,
          .block = request.block,
          .dynamic_shared_bytes = request.dynamic_shared_bytes,
          .max_dynamic_shared_bytes = request.kernel->granted_dynamic_shared_bytes.value_or(0),
          .params = request.params};
}

// Addresses and sizes are valid when they arrive here: each range lies in one live allocation of
// the right kind.
class Backend {
 public:
  virtual ~Backend() = default;

  // The device address of new memory, 0 if there is no more. kDevice, kPinned or kManaged.
  virtual uint64_t allocate(uint64_t bytes, MemoryKind kind) = 0;
  virtual Error release(const MemoryRange& range) = 0;
  virtual void memory_info(uint64_t* free_bytes, uint64_t* total_bytes) = 0;

  virtual void copy_to_device(uint64_t target, const void* source, uint64_t bytes,
                              uint32_t stream) = 0;
  virtual void copy_to_host(void* target, uint64_t source, uint64_t bytes, uint32_t stream) = 0;
  virtual void copy_on_device(uint64_t target, uint64_t source, uint64_t bytes,
                              uint32_t stream) = 0;
  virtual void fill(uint64_t target, uint8_t value, uint64_t bytes, uint32_t stream) = 0;

  // The address of a variable of a loaded module, 0 if its PTX has none of that name.
  virtual uint64_t variable_address(const RegisteredVariable& variable) = 0;
  virtual void copy_to_variable(const RegisteredVariable& variable, uint64_t offset,
                                const void* source, uint64_t bytes) = 0;

  virtual void set_attribute(const RegisteredKernel& kernel, const char* attribute,
                             int64_t value) = 0;

  // The code that the launch call itself returns: a bad configuration. What goes wrong while the
  // kernel runs is set in *later, and the runtime reports it from the next call on.
  virtual Error launch(const LaunchRequest& request, Error* later) = 0;
  virtual void synchronised() = 0;

  // A call ended with an error / was one that the library does not provide.
  virtual void failed(const char* api, Error error) = 0;
  virtual void not_provided(const char* api, const std::string& reason) = 0;
  // The program asked for the error of its launches (cudaGetLastError and its like).
  virtual void errors_looked_at() = 0;

  // Loads modules and knows their kernels. The live backend also runs them on it.
  virtual Simulator& simulator() = 0;
};

}  // namespace warpsim::cudart
