// Memory pools, and allocation from them in the order of a stream.

#include "cudart/api/graph_support.h"

using namespace warpsim::cudart;

namespace {

constexpr int kPinnedMemory = 1, kOnDevice = 1;  // cudaMemAllocationType, cudaMemLocationType
constexpr int kReuseAttributes = 3, kThreshold = 4, kReserved = 5, kReservedHigh = 6, kUsed = 7,
              kUsedHigh = 8;  // cudaMemPoolAttr; 1 to 3: of reuse

// cudaMallocAsync in a stream that is captured.
Error allocate_in_graph(Runtime& runtime, void** pointer, size_t bytes, void* stream) {
  if (!pointer) return kInvalidValue;
  AllocWork work;
  work.params.bytesize = bytes;
  if (Error error = allocate_for(runtime, bytes, &work.params.dptr)) return error;
  *pointer = work.params.dptr;
  Error error;
  is_captured(runtime, stream, work, &error);
  return error;
}

// `pool`: nullptr for the device's current one.
Error allocate_from(Runtime& runtime, void** pointer, size_t bytes, Pool* pool, void* stream) {
  const Stream* queue = runtime.find_stream(stream);
  if (!queue) return kInvalidResourceHandle;
  if (!pointer) return kInvalidValue;
  if (runtime.captures().of(queue)) return allocate_in_graph(runtime, pointer, bytes, stream);
  *pointer = nullptr;
  if (bytes == 0) return kSuccess;
  runtime.callbacks().run_before_work(queue->number);
  if (!pool) pool = runtime.pools().current();
  if (!pool->take(bytes)) return kMemoryAllocation;
  const uint64_t address = runtime.backend().allocate(bytes, MemoryKind::kDevice);
  if (!address) {
    pool->give(bytes);
    return kMemoryAllocation;
  }
  runtime.addresses().add({address, bytes, MemoryKind::kDevice});
  runtime.pools().allocated(pool, address, bytes);
  runtime.backend().allocated_in(queue->number, *runtime.addresses().find(address));
  *pointer = pointer_to(address);
  return kSuccess;
}

bool is_here(const MemLocation& location) {
  return location.type == kOnDevice && location.id == 0;
}

Error pool_of_device(Runtime& runtime, void** pool, int device, bool is_default) {
  if (!pool) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  *pool = is_default ? runtime.pools().default_pool() : runtime.pools().current();
  return kSuccess;
}

Error set_attribute(Pool* pool, int attribute, const void* value) {
  if (!pool || !value) return kInvalidValue;
  const auto word = *static_cast<const int*>(value);
  if (attribute >= 1 && attribute <= kReuseAttributes) {
    pool->reuse[attribute - 1] = word != 0;
    return kSuccess;
  }
  const uint64_t number = *static_cast<const uint64_t*>(value);
  if (attribute == kThreshold) {
    pool->release_threshold = number;
    return kSuccess;
  }
  // The marks of the highest can be set back, to zero only.
  if ((attribute != kReservedHigh && attribute != kUsedHigh) || number != 0) return kInvalidValue;
  (attribute == kUsedHigh ? pool->used_high : pool->reserved_high) =
      attribute == kUsedHigh ? pool->used : pool->reserved;
  return kSuccess;
}

Error get_attribute(const Pool* pool, int attribute, void* value) {
  if (!pool || !value) return kInvalidValue;
  if (attribute >= 1 && attribute <= kReuseAttributes) {
    *static_cast<int*>(value) = static_cast<int>(pool->reuse[attribute - 1]);
    return kSuccess;
  }
  uint64_t* number = static_cast<uint64_t*>(value);
  switch (attribute) {
    case kThreshold:
      *number = pool->release_threshold;
      return kSuccess;
    case kReserved:
      *number = pool->reserved;
      return kSuccess;
    case kReservedHigh:
      *number = pool->reserved_high;
      return kSuccess;
    case kUsed:
      *number = pool->used;
      return kSuccess;
    case kUsedHigh:
      *number = pool->used_high;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

}  // namespace

WARPSIM_API int cudaMallocAsync(void** pointer, size_t bytes, void* stream) {
  return call("cudaMallocAsync",
              [&](Runtime& rt) { return allocate_from(rt, pointer, bytes, nullptr, stream); });
}

WARPSIM_API int cudaMallocFromPoolAsync(void** pointer, size_t bytes, void* pool, void* stream) {
  return call("cudaMallocFromPoolAsync", [&](Runtime& rt) {
    Pool* found = rt.pools().find(pool);
    return found ? allocate_from(rt, pointer, bytes, found, stream) : kInvalidValue;
  });
}

WARPSIM_API int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return call("cudaDeviceGetDefaultMemPool",
              [&](Runtime& rt) { return pool_of_device(rt, pool, device, true); });
}

WARPSIM_API int cudaDeviceGetMemPool(void** pool, int device) {
  return call("cudaDeviceGetMemPool",
              [&](Runtime& rt) { return pool_of_device(rt, pool, device, false); });
}

WARPSIM_API int cudaDeviceSetMemPool(int device, void* pool) {
  return call("cudaDeviceSetMemPool", [&](Runtime& rt) {
    Pool* found = rt.pools().find(pool);
    if (device != 0) return kInvalidDevice;
    if (!found) return kInvalidValue;
    rt.pools().set_current(found);
    return kSuccess;
  });
}

WARPSIM_API int cudaMemGetDefaultMemPool(void** pool, const MemLocation* location, int type) {
  return call("cudaMemGetDefaultMemPool", [&](Runtime& rt) {
    if (!location || !is_here(*location) || type != kPinnedMemory) return kInvalidValue;
    return pool_of_device(rt, pool, 0, true);
  });
}

WARPSIM_API int cudaMemGetMemPool(void** pool, const MemLocation* location, int type) {
  return call("cudaMemGetMemPool", [&](Runtime& rt) {
    if (!location || !is_here(*location) || type != kPinnedMemory) return kInvalidValue;
    return pool_of_device(rt, pool, 0, false);
  });
}

WARPSIM_API int cudaMemSetMemPool(const MemLocation* location, int type, void* pool) {
  return call("cudaMemSetMemPool", [&](Runtime& rt) {
    Pool* found = rt.pools().find(pool);
    if (!location || !is_here(*location) || type != kPinnedMemory || !found) return kInvalidValue;
    rt.pools().set_current(found);
    return kSuccess;
  });
}

WARPSIM_API int cudaMemPoolCreate(void** pool, const MemPoolProps* props) {
  return call("cudaMemPoolCreate", [&](Runtime& rt) {
    if (!pool || !props) return kInvalidValue;
    if (props->handleTypes != 0 || !is_here(props->location) || props->allocType != kPinnedMemory) {
      rt.backend().not_provided("cudaMemPoolCreate",
                                "Pools are of the device's own memory, and not shared with other "
                                "processes.");
      return kNotSupported;
    }
    *pool = rt.pools().make(*props);
    return kSuccess;
  });
}

WARPSIM_API int cudaMemPoolDestroy(void* pool) {
  return call("cudaMemPoolDestroy",
              [&](Runtime& rt) { return rt.pools().destroy(pool) ? kSuccess : kInvalidValue; });
}

WARPSIM_API int cudaMemPoolTrimTo(void* pool, size_t kept) {
  return call("cudaMemPoolTrimTo", [&](Runtime& rt) {
    Pool* found = rt.pools().find(pool);
    if (!found) return kInvalidValue;
    found->trim(kept);
    return kSuccess;
  });
}

WARPSIM_API int cudaMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return call("cudaMemPoolSetAttribute",
              [&](Runtime& rt) { return set_attribute(rt.pools().find(pool), attribute, value); });
}

WARPSIM_API int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return call("cudaMemPoolGetAttribute",
              [&](Runtime& rt) { return get_attribute(rt.pools().find(pool), attribute, value); });
}

// There is one device, and it may always use its own pools.
WARPSIM_API int cudaMemPoolSetAccess(void* pool, const MemAccessDesc* list, size_t count) {
  return call("cudaMemPoolSetAccess", [&](Runtime& rt) {
    const Pool* found = rt.pools().find(pool);
    if (!found || (count && !list)) return kInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (!is_here(list[i].location) || list[i].flags != found->access) return kInvalidValue;
    }
    return kSuccess;
  });
}

WARPSIM_API int cudaMemPoolGetAccess(int* flags, void* pool, const MemLocation* location) {
  return call("cudaMemPoolGetAccess", [&](Runtime& rt) {
    const Pool* found = rt.pools().find(pool);
    if (!flags || !found || !location || !is_here(*location)) return kInvalidValue;
    *flags = found->access;
    return kSuccess;
  });
}
