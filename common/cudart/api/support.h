// What every API function starts with.

#pragma once

#include <mutex>
#include <optional>

#include "cudart/abi.h"
#include "cudart/runtime.h"

// An exported function. Its C linkage name is in names_12.txt and names_13.txt; the linker's
// version script exports those.
#define WARPSIM_API extern "C" __attribute__((visibility("default")))

namespace warpsim::cudart {

// Ends an API call: keeps its error as the thread's last one and lets the backend see it.
// cudaErrorNotReady is an answer, not an error.
inline Error finish(Runtime& runtime, const char* api, Error error) {
  if (error == kSuccess || error == kNotReady) return error;
  runtime.set_last_error(error);
  if (error != runtime.sticky_error()) runtime.backend().failed(api, error);
  return error;
}

// Runs `body(runtime)` under the runtime's lock, unless an earlier kernel's fault has to be
// returned instead.
template <typename Body>
[[gnu::always_inline]] inline Error call(const char* api, Body body) {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  runtime.backend().called_from(__builtin_return_address(0));  // of the exported function
  if (Error fault = runtime.surface_fault()) return finish(runtime, api, fault);
  const Error error = finish(runtime, api, body(runtime));
  if (runtime.callbacks().are_pending()) runtime.callbacks().run_awaited();
  return error;
}

// The same for a call that may not be made while streams are captured: it could wait for them.
template <typename Body>
[[gnu::always_inline]] inline Error uncaptured_call(const char* api, Body body) {
  return call(api, [&](Runtime& runtime) {
    const Error error = runtime.captures().forbids_unsafe();
    return error ? error : body(runtime);
  });
}

// The same for a call that uses the default stream as well.
template <typename Body>
[[gnu::always_inline]] inline Error waiting_call(const char* api, Body body) {
  return call(api, [&](Runtime& runtime) {
    Error error = runtime.captures().forbids_legacy();
    if (!error) error = runtime.captures().forbids_unsafe();
    return error ? error : body(runtime);
  });
}

// Says that `api` is not provided, `reason` being a whole sentence or empty.
inline Error not_provided(const char* api, const std::string& reason = "") {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  runtime.backend().not_provided(api, reason);
  return finish(runtime, api, kNotSupported);
}

inline uint64_t address_of(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}
inline void* pointer_to(uint64_t address) {
  return reinterpret_cast<void*>(address);
}

// A copy between two ranges of any kind, checked as the real runtime checks it (copy.cpp).
// `stream`: nullopt for a call that returns when it is done.
Error copy_bytes(Runtime& runtime, void* target, const void* source, size_t bytes, int kind,
                 std::optional<void*> stream);
Error copy_3d(Runtime& runtime, const Memcpy3DParms* parameters, std::optional<void*> stream);
Error fill_elements(Runtime& runtime, const MemsetParams& parameters, void* stream);
// `rows` rows of `width` bytes, as cudaMemcpy3D has them.
Memcpy3DParms copy_of_rows(void* target, size_t target_pitch, const void* source,
                           size_t source_pitch, size_t width, size_t rows, int kind);
// The device's pointer to a part of a variable, for the copies of graphs (symbol.cpp).
Error symbol_pointer(Runtime& runtime, const void* symbol, size_t bytes, size_t offset,
                     void** pointer);

// A launch as it was called, without its stream (launch.cpp). `arguments`: of the call.
Error describe_launch(Runtime& runtime, const void* function, Dim3Abi grid, Dim3Abi block,
                      size_t shared_bytes, bool is_cooperative, void** arguments, KernelWork* work);
Error launch(Runtime& runtime, const KernelWork& work, void* stream, bool drops_error);
// Whether the launch can be made at all.
Error check_launch(Runtime& runtime, const KernelWork& work);

inline int capture_status(const Capture* capture) {  // cudaStreamCaptureStatus
  return capture == nullptr ? 0 : capture->broken ? 2 : 1;
}

// If the stream is captured, puts the work into its graph and sets *error. Work of the default
// stream may not be done then.
inline bool is_captured(Runtime& runtime, void* stream, GraphWork work, Error* error) {
  const Stream* queue = runtime.find_stream(stream);
  if (Capture* capture = queue ? runtime.captures().of(queue) : nullptr) {
    *error =
        runtime.captures().add(capture, queue, std::move(work), runtime.backend().caller_address());
    return true;
  }
  *error = queue && queue->number == 0 ? runtime.captures().forbids_legacy() : kSuccess;
  return *error != kSuccess;
}

// How many blocks of a kernel the device holds at once (function.cpp).
uint64_t resident_blocks(Runtime& runtime, const RegisteredKernel& kernel, uint32_t threads,
                         size_t dynamic_shared);
// True if [pointer, pointer + bytes) is memory of the device, or pinned or managed memory that
// kernels can use too.
bool is_device_range(Runtime& runtime, const void* pointer, uint64_t bytes);

}  // namespace warpsim::cudart
