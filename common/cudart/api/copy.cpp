// Copies and fills. Each is done before the call returns, which every order that streams allow
// permits; the backend is told in which order they may be relied on.

#include <cstring>
#include <vector>

#include "cudart/api/array_support.h"

using namespace warpsim;
using namespace warpsim::cudart;

namespace warpsim::cudart {

namespace {

struct Side {
  const MemoryRange* range = nullptr;  // nullptr: host memory the runtime knows nothing of
  bool is_device_only() const { return range && range->on_device_only(); }
  bool is_device() const { return range && range->kind != MemoryKind::kRegistered; }
};

// False if the range leaves the allocation it starts in, or is in the device's address space and in
// no allocation.
bool find_side(Runtime& runtime, const void* pointer, uint64_t bytes, Side* side) {
  uint64_t address = address_of(pointer);
  side->range = runtime.addresses().find(address);
  if (!side->range) return !runtime.backend().simulator().memory().is_device_address(address);
  if (side->range->kind == MemoryKind::kRegistered) return true;
  return bytes <= side->range->bytes - (address - side->range->address);
}

bool kind_fits(int kind, const Side& target, const Side& source) {
  switch (kind) {
    case kHostToHost:
      return !target.is_device_only() && !source.is_device_only();
    case kHostToDevice:
      return target.is_device() && !source.is_device_only();
    case kDeviceToHost:
      return !target.is_device_only() && source.is_device();
    case kDeviceToDevice:
      return target.is_device() && source.is_device();
    default:
      return true;
  }
}

}  // namespace

bool is_device_range(Runtime& runtime, const void* pointer, uint64_t bytes) {
  Side side;
  return pointer && find_side(runtime, pointer, bytes, &side) && side.is_device();
}

Error copy_bytes(Runtime& runtime, void* target, const void* source, size_t bytes, int kind,
                 std::optional<void*> stream) {
  if (kind < kHostToHost || kind > kDefault) return kInvalidMemcpyDirection;
  Stream* queue = runtime.find_stream(stream.value_or(nullptr));
  if (!queue) return kInvalidResourceHandle;
  if (bytes == 0) return kSuccess;
  Side to, from;
  if (!target || !source || !find_side(runtime, target, bytes, &to) ||
      !find_side(runtime, source, bytes, &from) || !kind_fits(kind, to, from)) {
    runtime.backend().refuses(address_of(target), address_of(source), bytes, kind);
    return kInvalidValue;
  }
  runtime.callbacks().run_before_work(queue->number);
  Backend& backend = runtime.backend();
  if (to.is_device_only() && from.is_device_only()) {
    backend.copy_on_device(address_of(target), address_of(source), bytes, queue->number);
    runtime.timeline().advance_device_copy(runtime.device(), bytes);
    return kSuccess;
  }
  // Memory that kernels use as well: what they leave in it must have come.
  if (!to.is_device_only() && !from.is_device_only() && (to.range || from.range))
    backend.host_waits(HostWait::kStream, queue->number, true);
  const Side& host = to.is_device_only() ? from : to;
  const StreamCopy how{queue->number, stream.has_value(), host.range != nullptr};
  if (to.is_device_only()) {
    backend.copy_to_device(address_of(target), source, bytes, how);
  } else if (from.is_device_only()) {
    backend.copy_to_host(target, address_of(source), bytes, how);
  } else {
    std::memmove(target, source, bytes);
  }
  if (!how.is_async) backend.host_waits(HostWait::kStream, how.stream, true);
  runtime.timeline().advance_copy(bytes);
  return kSuccess;
}

Error copy_rows(Runtime& runtime, void* target, size_t target_pitch, const void* source,
                size_t source_pitch, size_t width, size_t rows, int kind,
                std::optional<void*> stream) {
  if (kind < kHostToHost || kind > kDefault) return kInvalidMemcpyDirection;
  if (width > target_pitch || width > source_pitch) return kInvalidPitchValue;
  if (width == 0 || rows == 0) return kSuccess;
  if (width == target_pitch && width == source_pitch) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(width, rows, &bytes)) return kInvalidValue;
    return copy_bytes(runtime, target, source, bytes, kind, stream);
  }
  for (size_t row = 0; row < rows; ++row) {
    Error error =
        copy_bytes(runtime, static_cast<char*>(target) + row * target_pitch,
                   static_cast<const char*>(source) + row * source_pitch, width, kind, stream);
    if (error) return error;
  }
  return kSuccess;
}

namespace {

Error fill_bytes(Runtime& runtime, void* target, int value, size_t bytes, void* stream) {
  Stream* queue = runtime.find_stream(stream);
  if (!queue) return kInvalidResourceHandle;
  if (bytes == 0) return kSuccess;
  Side to;
  if (!target || !find_side(runtime, target, bytes, &to) || !to.is_device()) {
    runtime.backend().refuses(address_of(target), 0, bytes, -1);
    return kInvalidValue;
  }
  runtime.callbacks().run_before_work(queue->number);
  if (to.is_device_only()) {
    runtime.backend().fill(address_of(target), static_cast<uint8_t>(value), bytes, queue->number);
  } else {
    runtime.backend().host_waits(HostWait::kStream, queue->number, true);
    std::memset(target, value, bytes);
  }
  runtime.timeline().advance_device_copy(runtime.device(), bytes);
  return kSuccess;
}

Error fill_rows(Runtime& runtime, void* target, size_t pitch, int value, size_t width, size_t rows,
                void* stream) {
  if (width > pitch && rows > 1) return kInvalidValue;
  if (width == 0) return kSuccess;
  for (size_t row = 0; row < rows; ++row) {
    if (Error error =
            fill_bytes(runtime, static_cast<char*>(target) + row * pitch, value, width, stream))
      return error;
  }
  return kSuccess;
}

}  // namespace

Error copy_3d(Runtime& runtime, const Memcpy3DParms* p, std::optional<void*> stream) {
  if (!p) return kInvalidValue;
  if (p->srcArray || p->dstArray) return copy_with_arrays(runtime, *p, stream);
  if (p->extent.width == 0 || p->extent.height == 0) return kSuccess;
  auto plane = [](const PitchedPtr& pitched, const Pos& at, size_t z) {
    return static_cast<char*>(pitched.ptr) + ((at.z + z) * pitched.ysize + at.y) * pitched.pitch +
           at.x;
  };
  for (size_t z = 0; z < p->extent.depth; ++z) {
    Error error = copy_rows(runtime, plane(p->dstPtr, p->dstPos, z), p->dstPtr.pitch,
                            plane(p->srcPtr, p->srcPos, z), p->srcPtr.pitch, p->extent.width,
                            p->extent.height, p->kind, stream);
    if (error) return error;
  }
  return kSuccess;
}

Memcpy3DParms copy_of_rows(void* target, size_t target_pitch, const void* source,
                           size_t source_pitch, size_t width, size_t rows, int kind) {
  Memcpy3DParms p{};
  p.dstPtr = {target, target_pitch, width, rows};
  p.srcPtr = {const_cast<void*>(source), source_pitch, width, rows};
  p.extent = {width, rows, 1};
  p.kind = kind;
  return p;
}

Error fill_elements(Runtime& runtime, const MemsetParams& p, void* stream) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return kInvalidValue;
  size_t width = 0;
  if (__builtin_mul_overflow(p.width, size_t{p.elementSize}, &width)) return kInvalidValue;
  if (width > p.pitch && p.height > 1) return kInvalidValue;
  uint8_t bytes[4];
  std::memcpy(bytes, &p.value, sizeof bytes);
  bool is_uniform = true;
  for (unsigned i = 1; i < p.elementSize; ++i) is_uniform &= bytes[i] == bytes[0];
  if (is_uniform) return fill_rows(runtime, p.dst, p.pitch, bytes[0], width, p.height, stream);
  Side to;
  if (!p.dst || !find_side(runtime, p.dst, width, &to)) return kInvalidValue;
  std::vector<uint8_t> row(width);
  for (size_t i = 0; i < width; ++i) row[i] = bytes[i % p.elementSize];
  for (size_t r = 0; r < p.height; ++r) {
    Error error = copy_bytes(runtime, static_cast<char*>(p.dst) + r * p.pitch, row.data(), width,
                             kHostToDevice, stream);
    if (error) return error;
  }
  return kSuccess;
}

namespace {

MemsetParams fill_of_rows(void* target, size_t pitch, int value, size_t width, size_t rows) {
  return {target, pitch, static_cast<uint8_t>(value), 1, width, rows};
}

Error fill_3d(Runtime& runtime, const PitchedPtr& pitched, int value, const Extent& extent,
              void* stream) {
  if (extent.width == 0 || extent.height == 0) return kSuccess;
  for (size_t z = 0; z < extent.depth; ++z) {
    char* plane = static_cast<char*>(pitched.ptr) + z * pitched.ysize * pitched.pitch;
    Error error =
        fill_rows(runtime, plane, pitched.pitch, value, extent.width, extent.height, stream);
    if (error) return error;
  }
  return kSuccess;
}

// There is one device, so the copy is one on it.
Error between_devices(const Memcpy3DPeerParms* from, Memcpy3DParms* copy) {
  if (!from) return kInvalidValue;
  if (from->srcDevice || from->dstDevice) return kInvalidDevice;
  *copy = {from->srcArray, from->srcPos, from->srcPtr, from->dstArray,
           from->dstPos,   from->dstPtr, from->extent, kDeviceToDevice};
  return kSuccess;
}

}  // namespace

}  // namespace warpsim::cudart

WARPSIM_API int cudaMemcpy(void* target, const void* source, size_t bytes, int kind) {
  return waiting_call("cudaMemcpy", [&](Runtime& rt) {
    return copy_bytes(rt, target, source, bytes, kind, std::nullopt);
  });
}

WARPSIM_API int cudaMemcpyAsync(void* target, const void* source, size_t bytes, int kind,
                                void* stream) {
  return call("cudaMemcpyAsync", [&](Runtime& rt) {
    Error error;
    if (is_captured(rt, stream, copy_of_rows(target, bytes, source, bytes, bytes, 1, kind), &error))
      return error;
    return copy_bytes(rt, target, source, bytes, kind, stream);
  });
}

WARPSIM_API int cudaMemcpyPeer(void* target, int target_device, const void* source,
                               int source_device, size_t bytes) {
  return waiting_call("cudaMemcpyPeer", [&](Runtime& rt) {
    if (target_device || source_device) return kInvalidDevice;
    return copy_bytes(rt, target, source, bytes, kDeviceToDevice, std::nullopt);
  });
}

WARPSIM_API int cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                    int source_device, size_t bytes, void* stream) {
  return call("cudaMemcpyPeerAsync", [&](Runtime& rt) {
    Error error;
    if (target_device || source_device) return kInvalidDevice;
    if (is_captured(rt, stream,
                    copy_of_rows(target, bytes, source, bytes, bytes, 1, kDeviceToDevice), &error))
      return error;
    return copy_bytes(rt, target, source, bytes, kDeviceToDevice, stream);
  });
}

WARPSIM_API int cudaMemcpy2D(void* target, size_t target_pitch, const void* source,
                             size_t source_pitch, size_t width, size_t height, int kind) {
  return waiting_call("cudaMemcpy2D", [&](Runtime& rt) {
    return copy_rows(rt, target, target_pitch, source, source_pitch, width, height, kind,
                     std::nullopt);
  });
}

WARPSIM_API int cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                                  size_t source_pitch, size_t width, size_t height, int kind,
                                  void* stream) {
  return call("cudaMemcpy2DAsync", [&](Runtime& rt) {
    Error error;
    if (is_captured(rt, stream,
                    copy_of_rows(target, target_pitch, source, source_pitch, width, height, kind),
                    &error))
      return error;
    return copy_rows(rt, target, target_pitch, source, source_pitch, width, height, kind, stream);
  });
}

WARPSIM_API int cudaMemcpy3D(const Memcpy3DParms* parameters) {
  return waiting_call("cudaMemcpy3D",
                      [&](Runtime& rt) { return copy_3d(rt, parameters, std::nullopt); });
}

WARPSIM_API int cudaMemcpy3DAsync(const Memcpy3DParms* parameters, void* stream) {
  return call("cudaMemcpy3DAsync", [&](Runtime& rt) {
    Error error;
    if (!parameters) return kInvalidValue;
    if (is_captured(rt, stream, *parameters, &error)) return error;
    return copy_3d(rt, parameters, stream);
  });
}

WARPSIM_API int cudaMemcpy3DPeer(const Memcpy3DPeerParms* parameters) {
  return waiting_call("cudaMemcpy3DPeer", [&](Runtime& rt) {
    Memcpy3DParms copy;
    const Error error = between_devices(parameters, &copy);
    return error ? error : copy_3d(rt, &copy, std::nullopt);
  });
}

WARPSIM_API int cudaMemcpy3DPeerAsync(const Memcpy3DPeerParms* parameters, void* stream) {
  return call("cudaMemcpy3DPeerAsync", [&](Runtime& rt) {
    Memcpy3DParms copy;
    Error error = between_devices(parameters, &copy);
    if (error || is_captured(rt, stream, copy, &error)) return error;
    return copy_3d(rt, &copy, stream);
  });
}

WARPSIM_API int cudaMemset(void* target, int value, size_t bytes) {
  return waiting_call("cudaMemset",
                      [&](Runtime& rt) { return fill_bytes(rt, target, value, bytes, nullptr); });
}

WARPSIM_API int cudaMemsetAsync(void* target, int value, size_t bytes, void* stream) {
  return call("cudaMemsetAsync", [&](Runtime& rt) {
    Error error;
    if (is_captured(rt, stream, fill_of_rows(target, bytes, value, bytes, 1), &error)) return error;
    return fill_bytes(rt, target, value, bytes, stream);
  });
}

WARPSIM_API int cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
  return waiting_call("cudaMemset2D", [&](Runtime& rt) {
    return fill_rows(rt, target, pitch, value, width, height, nullptr);
  });
}

WARPSIM_API int cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width,
                                  size_t height, void* stream) {
  return call("cudaMemset2DAsync", [&](Runtime& rt) {
    Error error;
    if (is_captured(rt, stream, fill_of_rows(target, pitch, value, width, height), &error))
      return error;
    return fill_rows(rt, target, pitch, value, width, height, stream);
  });
}

WARPSIM_API int cudaMemset3D(PitchedPtr pitched, int value, Extent extent) {
  return waiting_call("cudaMemset3D",
                      [&](Runtime& rt) { return fill_3d(rt, pitched, value, extent, nullptr); });
}

WARPSIM_API int cudaMemset3DAsync(PitchedPtr pitched, int value, Extent extent, void* stream) {
  return call("cudaMemset3DAsync", [&](Runtime& rt) {
    Error error = kSuccess;
    for (size_t z = 0; z < extent.depth; ++z) {
      char* plane = static_cast<char*>(pitched.ptr) + z * pitched.ysize * pitched.pitch;
      if (!is_captured(rt, stream,
                       fill_of_rows(plane, pitched.pitch, value, extent.width, extent.height),
                       &error))
        return fill_3d(rt, pitched, value, extent, stream);
      if (error) return error;
    }
    return kSuccess;
  });
}
