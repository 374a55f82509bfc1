// What differs between CUDA 12 and 13. Compiled once for each library, with WARPSIM_CUDA_MAJOR = 12
// or 13.

#include "cudart/api/device_facts.h"
#include "cudart/api/support.h"
#include "cudart/version.h"

using namespace warpsim::cudart;

#if WARPSIM_CUDA_MAJOR == 12
using DeviceProp = DeviceProp12;
using PointerAttributes = PointerAttributes12;
static constexpr int kVersion = 12090;
const char* const warpsim::cudart::kRuntimeVersion = "12.9";
#else
using DeviceProp = DeviceProp13;
using PointerAttributes = PointerAttributes13;
static constexpr int kVersion = 13000;
const char* const warpsim::cudart::kRuntimeVersion = "13.0";
#endif

static Error properties(DeviceProp* result, int device) {
  return call("cudaGetDeviceProperties", [&](Runtime& rt) {
    if (!result) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    fill_properties(rt.device(), result);
    return kSuccess;
  });
}

// Programs compiled with CUDA 12's headers call the first, those compiled with 13's the second. In
// libcudart.so.12 the name without _v2 takes the shorter structure of CUDA 11.
#if WARPSIM_CUDA_MAJOR == 12
WARPSIM_API int cudaGetDeviceProperties_v2(DeviceProp* result, int device) {
  return properties(result, device);
}
#else
WARPSIM_API int cudaGetDeviceProperties(DeviceProp* result, int device) {
  return properties(result, device);
}
#endif

WARPSIM_API int cudaRuntimeGetVersion(int* version) {
  if (!version) return kInvalidValue;
  *version = kVersion;
  return kSuccess;
}

// The driver is as new as the runtime.
WARPSIM_API int cudaDriverGetVersion(int* version) {
  return cudaRuntimeGetVersion(version);
}

WARPSIM_API int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return call("cudaPointerGetAttributes", [&](Runtime& rt) {
    if (!attributes) return kInvalidValue;
    const MemoryRange* range = rt.addresses().find(address_of(pointer));
    *attributes = {};
    attributes->device = range ? 0 : -2;  // cudaInvalidDeviceId: not known to the runtime
    if (!range) {
      attributes->hostPointer = const_cast<void*>(pointer);
      return kSuccess;
    }
    bool is_managed = range->kind == MemoryKind::kManaged;
    attributes->type = range->on_device_only() ? kDeviceMemory
                       : is_managed            ? kManagedMemory
                                               : kHostMemory;
    if (range->kind != MemoryKind::kRegistered)
      attributes->devicePointer = const_cast<void*>(pointer);
    if (!range->on_device_only()) attributes->hostPointer = const_cast<void*>(pointer);
    return kSuccess;
  });
}

// Hints about managed memory: CUDA 12 takes a device number, 13 a location. Neither changes what a
// program computes.
static Error managed_hint(const char* api, const void* pointer, size_t bytes) {
  return call(api, [&](Runtime& rt) {
    const MemoryRange* range = rt.addresses().find(address_of(pointer));
    if (!range || range->kind != MemoryKind::kManaged || bytes > range->bytes) return kInvalidValue;
    return kSuccess;
  });
}

WARPSIM_API int cudaMemPrefetchAsync(const void* pointer, size_t bytes) {
  return managed_hint("cudaMemPrefetchAsync", pointer, bytes);
}
WARPSIM_API int cudaMemAdvise(const void* pointer, size_t bytes) {
  return managed_hint("cudaMemAdvise", pointer, bytes);
}
#if WARPSIM_CUDA_MAJOR == 12
WARPSIM_API int cudaMemPrefetchAsync_v2(const void* pointer, size_t bytes) {
  return managed_hint("cudaMemPrefetchAsync", pointer, bytes);
}
WARPSIM_API int cudaMemAdvise_v2(const void* pointer, size_t bytes) {
  return managed_hint("cudaMemAdvise", pointer, bytes);
}
#endif
