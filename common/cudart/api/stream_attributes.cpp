// Attributes of streams: hints about caches and waiting, which change no result, and the priority.

#include <cstring>

#include "cudart/api/support.h"

using namespace warpsim::cudart;

namespace {

constexpr int kAccessWindow = 1, kSyncPolicy = 3, kPriority = 8, kSyncDomainMap = 9,
              kSyncDomain = 10;  // cudaLaunchAttributeID

bool is_known(int attribute) {
  return attribute == kAccessWindow || attribute == kSyncPolicy || attribute == kPriority ||
         attribute == kSyncDomainMap || attribute == kSyncDomain;
}

}  // namespace

WARPSIM_API int cudaStreamSetAttribute(void* stream, int attribute, const void* value) {
  return call("cudaStreamSetAttribute", [&](Runtime& rt) {
    Stream* queue = rt.find_stream(stream);
    if (!queue) return kInvalidResourceHandle;
    if (!value || !is_known(attribute)) return kInvalidValue;
    auto& kept = queue->attributes[attribute];
    std::memcpy(kept.data(), value, kept.size());
    if (attribute == kPriority) std::memcpy(&queue->priority, value, sizeof queue->priority);
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamGetAttribute(void* stream, int attribute, void* value) {
  return call("cudaStreamGetAttribute", [&](Runtime& rt) {
    const Stream* queue = rt.find_stream(stream);
    if (!queue) return kInvalidResourceHandle;
    if (!value || !is_known(attribute)) return kInvalidValue;
    const auto kept = queue->attributes.find(attribute);
    std::memset(value, 0, 64);
    if (attribute == kPriority)
      std::memcpy(value, &queue->priority, sizeof queue->priority);
    else if (kept != queue->attributes.end())
      std::memcpy(value, kept->second.data(), kept->second.size());
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamCopyAttributes(void* target, void* source) {
  return call("cudaStreamCopyAttributes", [&](Runtime& rt) {
    Stream* to = rt.find_stream(target);
    const Stream* from = rt.find_stream(source);
    if (!to || !from) return kInvalidResourceHandle;
    to->attributes = from->attributes;
    to->priority = from->priority;
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamGetDevice(void* stream, int* device) {
  return call("cudaStreamGetDevice", [&](Runtime& rt) {
    if (!rt.find_stream(stream)) return kInvalidResourceHandle;
    if (!device) return kInvalidValue;
    *device = 0;
    return kSuccess;
  });
}

// What lies in the cache changes no result.
WARPSIM_API int cudaCtxResetPersistingL2Cache() {
  return call("cudaCtxResetPersistingL2Cache", [&](Runtime&) { return kSuccess; });
}
