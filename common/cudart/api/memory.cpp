// Allocation: cudaMalloc, pinned, managed and registered host memory, and what is known of a
// pointer.

#include <cstring>

#include "cudart/api/support.h"

using namespace warpsim::cudart;

namespace {

constexpr size_t kPitchBytes = 512;  // rows of pitched memory start at multiples of it

Error allocate(Runtime& runtime, void** pointer, size_t bytes, MemoryKind kind,
               unsigned flags = 0) {
  if (!pointer) return kInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return kSuccess;
  uint64_t address = runtime.backend().allocate(bytes, kind);
  if (!address) return kMemoryAllocation;
  runtime.addresses().add({address, bytes, kind, flags});
  *pointer = pointer_to(address);
  return kSuccess;
}

// `stream`: of cudaFreeAsync. The others wait for the device, as every driver does until now.
Error release(Runtime& runtime, void* pointer, bool host, const Stream* stream = nullptr) {
  if (!pointer) return kSuccess;
  const MemoryRange* found = runtime.addresses().starting_at(address_of(pointer));
  if (!found) {
    runtime.backend().refuses(address_of(pointer), 0, 0, -1);
    return kInvalidValue;
  }
  bool is_host = found->kind == MemoryKind::kPinned;
  bool is_device = found->kind == MemoryKind::kDevice || found->kind == MemoryKind::kManaged;
  if (host ? !is_host : !is_device) return kInvalidValue;
  if (stream)
    runtime.backend().releases_in(stream->number, *found);
  else
    runtime.backend().host_waits(HostWait::kDevice, 0, true);
  if (found->flags == kOfGraph)
    runtime.pools().of_graphs().give(found->bytes);
  else if (Error error = runtime.backend().release(*found))
    return error;
  runtime.pools().released(address_of(pointer));
  runtime.addresses().remove(address_of(pointer));
  return kSuccess;
}

Error allocate_pitched(Runtime& runtime, void** pointer, size_t* pitch, size_t width, size_t rows) {
  if (!pointer || !pitch) return kInvalidValue;
  size_t row = 0, bytes = 0;
  if (__builtin_add_overflow(width, kPitchBytes - 1, &row)) return kMemoryAllocation;
  row -= row % kPitchBytes;
  if (__builtin_mul_overflow(row, rows, &bytes)) return kMemoryAllocation;
  *pitch = row;
  return allocate(runtime, pointer, bytes, MemoryKind::kDevice);
}

}  // namespace

WARPSIM_API int cudaMalloc(void** pointer, size_t bytes) {
  return uncaptured_call(
      "cudaMalloc", [&](Runtime& rt) { return allocate(rt, pointer, bytes, MemoryKind::kDevice); });
}

WARPSIM_API int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return uncaptured_call("cudaMallocPitch", [&](Runtime& rt) {
    return allocate_pitched(rt, pointer, pitch, width, height);
  });
}

WARPSIM_API int cudaMalloc3D(PitchedPtr* pitched, Extent extent) {
  return uncaptured_call("cudaMalloc3D", [&](Runtime& rt) {
    if (!pitched) return kInvalidValue;
    size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return kMemoryAllocation;
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocate_pitched(rt, &pitched->ptr, &pitched->pitch, extent.width, rows);
  });
}

WARPSIM_API int cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return uncaptured_call("cudaMallocManaged", [&](Runtime& rt) {
    constexpr unsigned kAttachGlobal = 1, kAttachHost = 2;
    if (bytes == 0 || (flags != kAttachGlobal && flags != kAttachHost)) return kInvalidValue;
    return allocate(rt, pointer, bytes, MemoryKind::kManaged, flags);
  });
}

WARPSIM_API int cudaMallocHost(void** pointer, size_t bytes) {
  return uncaptured_call("cudaMallocHost", [&](Runtime& rt) {
    return allocate(rt, pointer, bytes, MemoryKind::kPinned);
  });
}

WARPSIM_API int cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return uncaptured_call("cudaHostAlloc", [&](Runtime& rt) {
    constexpr unsigned kKnownFlags = 7;  // portable, mapped, write-combined
    if (flags & ~kKnownFlags) return kInvalidValue;
    return allocate(rt, pointer, bytes, MemoryKind::kPinned, flags);
  });
}

WARPSIM_API int cudaFree(void* pointer) {
  return uncaptured_call("cudaFree", [&](Runtime& rt) { return release(rt, pointer, false); });
}

WARPSIM_API int cudaFreeAsync(void* pointer, void* stream) {
  return call("cudaFreeAsync", [&](Runtime& rt) {
    if (!pointer) return kInvalidValue;
    const Stream* queue = rt.find_stream(stream);
    Error error;
    if (queue && rt.captures().of(queue) && is_captured(rt, stream, FreeWork{pointer}, &error))
      return error;
    if (!queue) return kInvalidResourceHandle;
    rt.callbacks().run_before_work(queue->number);
    return release(rt, pointer, false, queue);
  });
}

WARPSIM_API int cudaFreeHost(void* pointer) {
  return uncaptured_call("cudaFreeHost", [&](Runtime& rt) { return release(rt, pointer, true); });
}

WARPSIM_API int cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call("cudaHostGetDevicePointer", [&](Runtime& rt) {
    if (!device || !host || flags) return kInvalidValue;
    const MemoryRange* range = rt.addresses().find(address_of(host));
    if (!range || range->on_device_only()) return kInvalidValue;
    if (!range->is_shared) {
      rt.backend().not_provided("cudaHostGetDevicePointer",
                                "Kernels cannot use this memory of cudaHostRegister here; allocate "
                                "it with cudaHostAlloc.");
      return kNotSupported;
    }
    *device = host;
    return kSuccess;
  });
}

WARPSIM_API int cudaHostGetFlags(unsigned* flags, void* host) {
  return call("cudaHostGetFlags", [&](Runtime& rt) {
    const MemoryRange* range = rt.addresses().find(address_of(host));
    if (!flags || !range ||
        (range->kind != MemoryKind::kPinned && range->kind != MemoryKind::kRegistered))
      return kInvalidValue;
    *flags = range->flags;
    return kSuccess;
  });
}

WARPSIM_API int cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return uncaptured_call("cudaHostRegister", [&](Runtime& rt) {
    if (!pointer || bytes == 0) return kInvalidValue;
    if (rt.addresses().overlaps(address_of(pointer), bytes)) return kHostMemoryAlreadyRegistered;
    MemoryRange range{address_of(pointer), bytes, MemoryKind::kRegistered, flags};
    range.is_shared = rt.backend().adopt(range);
    rt.addresses().add(range);
    return kSuccess;
  });
}

WARPSIM_API int cudaHostUnregister(void* pointer) {
  return uncaptured_call("cudaHostUnregister", [&](Runtime& rt) {
    const MemoryRange* range = rt.addresses().starting_at(address_of(pointer));
    if (!range || range->kind != MemoryKind::kRegistered) return kHostMemoryNotRegistered;
    rt.backend().host_waits(HostWait::kDevice, 0, true);
    if (range->is_shared) rt.backend().release(*range);
    rt.addresses().remove(address_of(pointer));
    return kSuccess;
  });
}

WARPSIM_API int cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return call("cudaMemGetInfo", [&](Runtime& rt) {
    if (!free_bytes || !total_bytes) return kInvalidValue;
    uint64_t available = 0, total = 0;
    rt.backend().memory_info(&available, &total);
    *free_bytes = available;
    *total_bytes = total;
    return kSuccess;
  });
}
