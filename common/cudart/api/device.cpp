// The one device: choosing it, its limits and attributes.

#include <algorithm>
#include <climits>
#include <cstring>
#include <iterator>

#include "cudart/api/device_facts.h"
#include "cudart/api/support.h"

using namespace warpsim::cudart;

namespace {

Error choose(int device) {
  return device == 0 ? kSuccess : kInvalidDevice;
}

// Sizes of cudaDeviceSetLimit: kept and given back. On that of the heap depends what malloc() in
// kernels returns, on that of the stack how deep a recursion may go.
constexpr size_t kDefaultLimits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
constexpr int kStackSize = 0, kMallocHeapSize = 2;
constexpr int kLimitCount = sizeof kDefaultLimits / sizeof *kDefaultLimits;
size_t g_limits[kLimitCount] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

// A device that is reset has the limits that it began with; only what has been changed is set.
void reset_limits(Runtime& runtime) {
  if (g_limits[kStackSize] != kDefaultLimits[kStackSize])
    runtime.backend().set_stack(kDefaultLimits[kStackSize]);
  const bool keeps_heap = g_limits[kMallocHeapSize] != kDefaultLimits[kMallocHeapSize] &&
                          !runtime.backend().set_heap(kDefaultLimits[kMallocHeapSize]);
  const size_t heap = g_limits[kMallocHeapSize];
  std::copy(std::begin(kDefaultLimits), std::end(kDefaultLimits), g_limits);
  if (keeps_heap) g_limits[kMallocHeapSize] = heap;  // a kernel has allocated in it
}
int g_cache_config = 0;
unsigned g_device_flags = 0;

constexpr char kPciBusId[] = "0000:01:00.0";

}  // namespace

WARPSIM_API int cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&](Runtime&) {
    if (!count) return kInvalidValue;
    *count = 1;
    return kSuccess;
  });
}

WARPSIM_API int cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&](Runtime&) {
    if (!device) return kInvalidValue;
    *device = 0;
    return kSuccess;
  });
}

WARPSIM_API int cudaSetDevice(int device) {
  return call("cudaSetDevice", [&](Runtime&) { return choose(device); });
}

WARPSIM_API int cudaInitDevice(int device, unsigned, unsigned) {
  return call("cudaInitDevice", [&](Runtime&) { return choose(device); });
}

WARPSIM_API int cudaSetValidDevices(int* devices, int count) {
  return call("cudaSetValidDevices", [&](Runtime&) {
    if (count < 0 || (count > 0 && !devices)) return kInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (devices[i] != 0) return kInvalidDevice;
    }
    return kSuccess;
  });
}

// The wanted properties do not matter where there is one device.
WARPSIM_API int cudaChooseDevice(int* device, const void* properties) {
  return call("cudaChooseDevice", [&](Runtime&) {
    if (!device || !properties) return kInvalidValue;
    *device = 0;
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return call("cudaDeviceGetAttribute", [&](Runtime& rt) {
    if (!value) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    return device_attribute(rt.device(), attribute, value) ? kSuccess : kInvalidValue;
  });
}

WARPSIM_API int cudaDeviceReset() {
  Runtime& runtime = Runtime::instance();
  std::lock_guard lock(runtime.mutex());
  runtime.backend().called_from(__builtin_return_address(0));
  const Error error = runtime.reset();
  if (error == kSuccess) reset_limits(runtime);
  return finish(runtime, "cudaDeviceReset", error);
}

WARPSIM_API int cudaThreadExit() {
  return cudaDeviceReset();
}

WARPSIM_API int cudaDeviceSetLimit(int limit, size_t value) {
  return call("cudaDeviceSetLimit", [&](Runtime& rt) {
    if (limit < 0 || limit >= kLimitCount) return kUnsupportedLimit;
    if (limit == kMallocHeapSize) {
      uint64_t free_bytes = 0, total_bytes = 0;
      rt.backend().memory_info(&free_bytes, &total_bytes);
      if (value > free_bytes) return kMemoryAllocation;
      if (!rt.backend().set_heap(value)) return kInvalidValue;
    }
    if (limit == kStackSize) {
      if (value > warpsim::kMostStackBytes) return kInvalidValue;
      rt.backend().set_stack(value);
    }
    g_limits[limit] = value;
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceGetLimit(size_t* value, int limit) {
  return call("cudaDeviceGetLimit", [&](Runtime&) {
    if (!value) return kInvalidValue;
    if (limit < 0 || limit >= kLimitCount) return kUnsupportedLimit;
    *value = g_limits[limit];
    return kSuccess;
  });
}

WARPSIM_API int cudaThreadSetLimit(int limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}

WARPSIM_API int cudaThreadGetLimit(size_t* value, int limit) {
  return cudaDeviceGetLimit(value, limit);
}

WARPSIM_API int cudaDeviceSetCacheConfig(int config) {
  return call("cudaDeviceSetCacheConfig", [&](Runtime&) {
    if (config < 0 || config > 3) return kInvalidValue;
    g_cache_config = config;
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceGetCacheConfig(int* config) {
  return call("cudaDeviceGetCacheConfig", [&](Runtime&) {
    if (!config) return kInvalidValue;
    *config = g_cache_config;
    return kSuccess;
  });
}

WARPSIM_API int cudaThreadSetCacheConfig(int config) {
  return cudaDeviceSetCacheConfig(config);
}

WARPSIM_API int cudaThreadGetCacheConfig(int* config) {
  return cudaDeviceGetCacheConfig(config);
}

// Banks have been 4 bytes wide, whatever is asked for, since compute capability 5.0.
WARPSIM_API int cudaDeviceSetSharedMemConfig(int config) {
  return call("cudaDeviceSetSharedMemConfig",
              [&](Runtime&) { return config < 0 || config > 2 ? kInvalidValue : kSuccess; });
}

WARPSIM_API int cudaDeviceGetSharedMemConfig(int* config) {
  return call("cudaDeviceGetSharedMemConfig", [&](Runtime&) {
    if (!config) return kInvalidValue;
    *config = 1;
    return kSuccess;
  });
}

WARPSIM_API int cudaSetDeviceFlags(unsigned flags) {
  return call("cudaSetDeviceFlags", [&](Runtime&) {
    // How the host waits (one of three, or none), and what else there is: mapping, local memory
    // that is kept, copies that wait.
    const unsigned waits = flags & 7;
    if ((flags & ~0x9Fu) != 0 || (waits & (waits - 1)) != 0) return kInvalidValue;
    g_device_flags = flags;
    return kSuccess;
  });
}

WARPSIM_API int cudaGetDeviceFlags(unsigned* flags) {
  return call("cudaGetDeviceFlags", [&](Runtime&) {
    if (!flags) return kInvalidValue;
    *flags = g_device_flags;
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return call("cudaDeviceGetPCIBusId", [&](Runtime&) {
    if (!text || bytes < static_cast<int>(sizeof kPciBusId)) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    std::memcpy(text, kPciBusId, sizeof kPciBusId);
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call("cudaDeviceGetByPCIBusId", [&](Runtime&) {
    if (!device || !text) return kInvalidValue;
    *device = 0;
    return std::strcmp(text, kPciBusId) == 0 ? kSuccess : kInvalidDevice;
  });
}

WARPSIM_API int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", [&](Runtime&) {
    if (!can) return kInvalidValue;
    *can = 0;
    return device == 0 && peer == 0 ? kSuccess : kInvalidDevice;
  });
}

// Of two devices, and there is one.
WARPSIM_API int cudaDeviceGetP2PAttribute(int*, int, int, int) {
  return call("cudaDeviceGetP2PAttribute", [&](Runtime&) { return kInvalidDevice; });
}

WARPSIM_API int cudaDeviceEnablePeerAccess(int, unsigned) {
  return call("cudaDeviceEnablePeerAccess", [&](Runtime&) { return kInvalidDevice; });
}

WARPSIM_API int cudaDeviceDisablePeerAccess(int) {
  return call("cudaDeviceDisablePeerAccess", [&](Runtime&) { return kInvalidDevice; });
}

WARPSIM_API int cudaProfilerStart() {
  return kSuccess;
}
WARPSIM_API int cudaProfilerStop() {
  return kSuccess;
}

// An inline function of the headers uses it; it returns its description in memory.
WARPSIM_API ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}
