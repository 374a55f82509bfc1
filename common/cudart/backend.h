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
#include "warpsim/order/stream_order.h"
#include "warpsim/sim.h"

namespace warpsim::cudart {

// A launch whose kernel and stream exist; the configuration has not been looked at.
struct LaunchRequest {
  RegisteredKernel* kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  uint32_t stream = 0;
  bool is_cooperative = false;
  bool is_early = false;  // programmatic stream serialization
  std::vector<std::byte> params;
  // As kernel<<<...>>>(): the program sees what the launch returns by asking for it only.
  bool drops_error = false;
};

// What the host waits for.
enum class HostWait : uint8_t { kDevice, kStream, kEvent };

inline void tell(StreamOrder* order, HostWait what, uint32_t id) {
  if (what == HostWait::kDevice) order->host_waits_for_device();
  if (what == HostWait::kStream) order->host_waits_for_stream(id);
  if (what == HostWait::kEvent) order->host_waits_for_event(id);
}

inline bool has_waited(StreamOrder* order, HostWait what, uint32_t id) {
  return what == HostWait::kStream ? order->host_has_waited_for_stream(id)
                                   : order->host_has_waited_for_event(id);
}

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
          .params = request.params,
          .is_cooperative = request.is_cooperative,
          .is_early = request.is_early};
}

struct StreamCopy {
  uint32_t stream = 0;
  bool is_async = false;   // the host goes on at once
  bool is_pinned = false;  // the host's side is: the copy reads it when its turn has come
};

// Addresses and sizes are valid when they arrive here: each range lies in one live allocation of
// the right kind. Streams and events are numbered; stream 0 is the legacy default stream.
//
// Copies and fills are work of a stream that the host does not wait for: where a call does,
// host_waits comes next.
class Backend {
 public:
  virtual ~Backend() = default;

  // The device address of new memory, 0 if there is no more. kDevice, kPinned, kManaged or kArray.
  virtual uint64_t allocate(uint64_t bytes, MemoryKind kind) = 0;
  virtual Error release(const MemoryRange& range) = 0;
  // Memory of the host becomes the kernels', too (cudaHostRegister); false where that cannot be.
  virtual bool adopt(const MemoryRange& range) = 0;
  // Before release, after allocate: of cudaFreeAsync and cudaMallocAsync.
  virtual void releases_in(uint32_t stream, const MemoryRange& range) = 0;
  virtual void allocated_in(uint32_t stream, const MemoryRange& range) = 0;
  virtual void memory_info(uint64_t* free_bytes, uint64_t* total_bytes) = 0;

  virtual void copy_to_device(uint64_t target, const void* source, uint64_t bytes,
                              const StreamCopy& how) = 0;
  virtual void copy_to_host(void* target, uint64_t source, uint64_t bytes,
                            const StreamCopy& how) = 0;
  virtual void copy_on_device(uint64_t target, uint64_t source, uint64_t bytes,
                              uint32_t stream) = 0;
  virtual void fill(uint64_t target, uint8_t value, uint64_t bytes, uint32_t stream) = 0;

  // The address of a variable of a loaded module, 0 if its PTX has none of that name.
  virtual uint64_t variable_address(const RegisteredVariable& variable) = 0;
  virtual void copy_to_variable(const RegisteredVariable& variable, uint64_t offset,
                                const void* source, uint64_t bytes, const StreamCopy& how) = 0;

  virtual void set_attribute(const RegisteredKernel& kernel, const char* attribute,
                             int64_t value) = 0;

  // The heap of malloc() in kernels. False once a kernel has allocated in it.
  virtual bool set_heap(uint64_t bytes) = 0;
  // The stack of each thread.
  virtual void set_stack(uint64_t bytes) = 0;

  // The code that the launch call itself returns: a bad configuration. What goes wrong while the
  // kernel runs is set in *later, and the runtime reports it from the next call on.
  virtual Error launch(const LaunchRequest& request, Error* later) = 0;

  virtual void stream_made(uint32_t stream, bool is_blocking) = 0;
  virtual void event_recorded(uint32_t event, uint32_t stream) = 0;
  virtual void stream_waits(uint32_t stream, uint32_t event) = 0;
  // `is_implied`: by a call that is made for something else.
  virtual void host_waits(HostWait what, uint32_t id, bool is_implied) = 0;
  // Whether the host knows already that the stream's work, or the event's, has ended.
  virtual bool host_has_waited(HostWait what, uint32_t id) = 0;
  // What is known of the order of all that has been done so far.
  virtual StreamOrder& order() = 0;
  // Where the program makes the call that comes next.
  void called_from(const void* address) { caller_ = address; }
  const void* caller_address() const { return caller_; }

  // What a copy, a fill or a free that is about to be refused was given. `direction`: -1 if the
  // call has none; `source`: 0 if it has none.
  virtual void refuses(uint64_t /*target*/, uint64_t /*source*/, uint64_t /*bytes*/,
                       int /*direction*/) {}
  // A call ended with an error / was one that the library does not provide.
  virtual void failed(const char* api, Error error) = 0;
  // The same of a function of the driver, with what is wrong.
  virtual void failed_in_driver(const char* api, int result, const std::string& why) = 0;
  virtual void not_provided(const char* api, const std::string& reason) = 0;
  // The program asked for the error of its launches (cudaGetLastError and its like).
  virtual void errors_looked_at() = 0;

  // Loads modules and knows their kernels. The live backend also runs them on it.
  virtual Simulator& simulator() = 0;

  // Where the last call was made, where somebody asks for calls with those that led to them; else
  // 0.
  uint64_t call_to_tell() const;

 protected:
  // The call, as an offset in the program's file that lies within the calling instruction; 0: not
  // known.
  uint64_t caller() const;

 private:
  const void* caller_ = nullptr;
};

}  // namespace warpsim::cudart
