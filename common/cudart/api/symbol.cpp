// __device__ and __constant__ variables: copies by name, addresses, sizes.

#include "cudart/api/support.h"

using namespace warpsim::cudart;

namespace {

// The variable with its device address, which cudaMemcpy may then use too.
Error resolve(Runtime& runtime, const void* symbol, RegisteredVariable** variable) {
  Error error;
  *variable = runtime.variable(symbol, &error);
  if (!*variable) return error;
  if ((*variable)->address) return kSuccess;
  (*variable)->address = runtime.backend().variable_address(**variable);
  if (!(*variable)->address) return kInvalidSymbol;
  runtime.addresses().add({(*variable)->address, (*variable)->bytes, MemoryKind::kSymbol});
  return kSuccess;
}

bool fits(const RegisteredVariable& variable, size_t bytes, size_t offset) {
  return offset <= variable.bytes && bytes <= variable.bytes - offset;
}

Error copy_to(Runtime& runtime, const void* symbol, const void* source, size_t bytes, size_t offset,
              int kind, std::optional<void*> stream) {
  if (kind != kHostToDevice && kind != kDeviceToDevice && kind != kDefault)
    return kInvalidMemcpyDirection;
  Error error;
  RegisteredVariable* variable = runtime.variable(symbol, &error);
  if (!variable) return error;
  Stream* queue = runtime.find_stream(stream.value_or(nullptr));
  if (!queue) return kInvalidResourceHandle;
  if (!fits(*variable, bytes, offset)) return kInvalidValue;
  if (bytes == 0) return kSuccess;
  runtime.callbacks().run_before_work(queue->number);
  bool from_device = is_device_range(runtime, source, bytes);
  if (kind == kHostToDevice || (kind == kDefault && !from_device)) {
    if (!source || from_device) return kInvalidValue;
    const bool is_pinned = runtime.addresses().find(address_of(source)) != nullptr;
    const StreamCopy how{queue->number, stream.has_value(), is_pinned};
    runtime.backend().copy_to_variable(*variable, offset, source, bytes, how);
    if (!how.is_async) runtime.backend().host_waits(HostWait::kStream, how.stream, true);
    runtime.timeline().advance_copy(bytes);
    return kSuccess;
  }
  if ((error = resolve(runtime, symbol, &variable))) return error;
  return copy_bytes(runtime, pointer_to(variable->address + offset), source, bytes, kDeviceToDevice,
                    stream);
}

Error copy_from(Runtime& runtime, void* target, const void* symbol, size_t bytes, size_t offset,
                int kind, std::optional<void*> stream) {
  if (kind != kDeviceToHost && kind != kDeviceToDevice && kind != kDefault)
    return kInvalidMemcpyDirection;
  RegisteredVariable* variable = nullptr;
  if (Error error = resolve(runtime, symbol, &variable)) return error;
  if (!fits(*variable, bytes, offset)) return kInvalidValue;
  return copy_bytes(runtime, target, pointer_to(variable->address + offset), bytes, kind, stream);
}

// If the stream is captured; `copy_at`: the copy, by the variable's address.
template <typename CopyAt>
bool goes_into_graph(Runtime& runtime, void* stream, const void* symbol, size_t bytes,
                     size_t offset, Error* error, CopyAt copy_at) {
  const Stream* queue = runtime.find_stream(stream);
  if (!queue || !runtime.captures().of(queue)) return false;
  void* at = nullptr;
  *error = symbol_pointer(runtime, symbol, bytes, offset, &at);
  return *error || is_captured(runtime, stream, copy_at(at), error);
}

}  // namespace

Error warpsim::cudart::symbol_pointer(Runtime& runtime, const void* symbol, size_t bytes,
                                      size_t offset, void** pointer) {
  RegisteredVariable* variable = nullptr;
  if (Error error = resolve(runtime, symbol, &variable)) return error;
  if (!fits(*variable, bytes, offset)) return kInvalidValue;
  *pointer = pointer_to(variable->address + offset);
  return kSuccess;
}

WARPSIM_API int cudaMemcpyToSymbol(const void* symbol, const void* source, size_t bytes,
                                   size_t offset, int kind) {
  return waiting_call("cudaMemcpyToSymbol", [&](Runtime& rt) {
    return copy_to(rt, symbol, source, bytes, offset, kind, std::nullopt);
  });
}

WARPSIM_API int cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes,
                                        size_t offset, int kind, void* stream) {
  return call("cudaMemcpyToSymbolAsync", [&](Runtime& rt) {
    Error error;
    if (goes_into_graph(rt, stream, symbol, bytes, offset, &error, [&](void* at) {
          return copy_of_rows(at, bytes, source, bytes, bytes, 1, kind);
        }))
      return error;
    return copy_to(rt, symbol, source, bytes, offset, kind, stream);
  });
}

WARPSIM_API int cudaMemcpyFromSymbol(void* target, const void* symbol, size_t bytes, size_t offset,
                                     int kind) {
  return waiting_call("cudaMemcpyFromSymbol", [&](Runtime& rt) {
    return copy_from(rt, target, symbol, bytes, offset, kind, std::nullopt);
  });
}

WARPSIM_API int cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t bytes,
                                          size_t offset, int kind, void* stream) {
  return call("cudaMemcpyFromSymbolAsync", [&](Runtime& rt) {
    Error error;
    if (goes_into_graph(rt, stream, symbol, bytes, offset, &error, [&](void* at) {
          return copy_of_rows(target, bytes, at, bytes, bytes, 1, kind);
        }))
      return error;
    return copy_from(rt, target, symbol, bytes, offset, kind, stream);
  });
}

WARPSIM_API int cudaGetSymbolAddress(void** address, const void* symbol) {
  return call("cudaGetSymbolAddress", [&](Runtime& rt) {
    if (!address) return kInvalidValue;
    RegisteredVariable* variable = nullptr;
    Error error = resolve(rt, symbol, &variable);
    if (!error) *address = pointer_to(variable->address);
    return error;
  });
}

WARPSIM_API int cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return call("cudaGetSymbolSize", [&](Runtime& rt) {
    if (!bytes) return kInvalidValue;
    Error error;
    RegisteredVariable* variable = rt.variable(symbol, &error);
    if (variable) *bytes = variable->bytes;
    return error;
  });
}
