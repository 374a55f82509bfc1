// Streams and events. Work is done in the order of the calls, so that every stream is idle and
// every recorded event has happened when a call returns; the backend is told what a program may
// rely on. A query that says yes is a wait.

#include "cudart/api/support.h"

using namespace warpsim::cudart;

namespace {

constexpr int kGreatestPriority = -5;  // as on recent devices; the least is 0
constexpr unsigned kEventFlags = 7, kEventDisableTiming = 2;

Error make_stream(Runtime& runtime, void** stream, unsigned flags, int priority) {
  if (!stream || flags > 1) return kInvalidValue;
  *stream = runtime.create_stream(flags, priority);
  return kSuccess;
}

Error make_event(Runtime& runtime, void** event, unsigned flags) {
  if (!event || flags & ~kEventFlags) return kInvalidValue;
  *event = runtime.create_event(flags);
  return kSuccess;
}

Error record(Runtime& runtime, void* handle, void* stream) {
  Event* event = runtime.find_event(handle);
  Stream* queue = runtime.find_stream(stream);
  if (!event || !queue) return kInvalidResourceHandle;
  if (runtime.captures().of(queue)) {
    runtime.captures().record(event, queue);
    return kSuccess;
  }
  if (queue->number == 0) {
    if (Error error = runtime.captures().forbids_legacy()) return error;
  }
  runtime.captures().forget(event);
  event->is_recorded = true;
  event->time_ms = runtime.timeline().record_event();
  runtime.backend().event_recorded(event->number, queue->number);
  return kSuccess;
}

Error elapsed(Runtime& runtime, float* milliseconds, void* start, void* end) {
  if (!milliseconds) return kInvalidValue;
  Event* first = runtime.find_event(start);
  Event* second = runtime.find_event(end);
  if (!first || !second || !first->is_recorded || !second->is_recorded ||
      (first->flags | second->flags) & kEventDisableTiming) {
    return kInvalidResourceHandle;
  }
  *milliseconds = static_cast<float>(second->time_ms - first->time_ms);
  return kSuccess;
}

// An event that a graph records or waits for, not one that orders what is captured.
constexpr unsigned kExternal = 1;

// The host has waited.
Error wait(Runtime& runtime, HostWait what, uint32_t id) {
  const bool is_stream = what == HostWait::kStream;
  runtime.callbacks().finish_running(is_stream ? std::optional(id) : std::nullopt);
  runtime.backend().host_waits(what, id, false);
  runtime.pools().trim_all();
  return kSuccess;
}

// Asking for work that nobody has waited for gets "not ready" at first: a program that does not
// listen has waited for nothing. One that asks again has.
Error ask(Runtime& runtime, HostWait what, uint32_t id) {
  const bool is_first =
      !runtime.backend().host_has_waited(what, id) && runtime.asks_first(what, id);
  return is_first ? kNotReady : wait(runtime, what, id);
}

using Wait = Error (*)(Runtime&, HostWait, uint32_t);

// A stream that exists and whose capture, if any, this call does not break.
Error find_usable(Runtime& runtime, void* handle, const Stream** stream) {
  *stream = runtime.find_stream(handle);
  if (!*stream) return kInvalidResourceHandle;
  Captures& captures = runtime.captures();
  const Error error = captures.of(*stream) ? captures.forbids_wait(*stream) : kSuccess;
  return !error && (*stream)->number == 0 ? captures.forbids_legacy() : error;
}

Error wait_for_stream(Runtime& runtime, void* handle, Wait how = wait) {
  const Stream* stream = nullptr;
  const Error error = find_usable(runtime, handle, &stream);
  return error ? error : how(runtime, HostWait::kStream, stream->number);
}

Error add_callback(Runtime& runtime, void* handle, std::function<void()> function) {
  const Stream* stream = nullptr;
  const Error error = find_usable(runtime, handle, &stream);
  if (!error) runtime.callbacks().add(stream->number, std::move(function));
  return error;
}

Error wait_for_event(Runtime& runtime, void* handle, Wait how = wait) {
  const Event* event = runtime.find_event(handle);
  if (event && runtime.captures().is_captured(event)) return kCapturedEvent;
  return event ? how(runtime, HostWait::kEvent, event->number) : kInvalidResourceHandle;
}

}  // namespace

WARPSIM_API int cudaStreamCreate(void** stream) {
  return call("cudaStreamCreate", [&](Runtime& rt) { return make_stream(rt, stream, 0, 0); });
}

WARPSIM_API int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return call("cudaStreamCreateWithFlags",
              [&](Runtime& rt) { return make_stream(rt, stream, flags, 0); });
}

WARPSIM_API int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return call("cudaStreamCreateWithPriority", [&](Runtime& rt) {
    return make_stream(rt, stream, flags, std::min(0, std::max(kGreatestPriority, priority)));
  });
}

WARPSIM_API int cudaStreamDestroy(void* stream) {
  return call("cudaStreamDestroy", [&](Runtime& rt) {
    return rt.destroy_stream(stream) ? kSuccess : kInvalidResourceHandle;
  });
}

WARPSIM_API int cudaStreamSynchronize(void* stream) {
  return call("cudaStreamSynchronize", [&](Runtime& rt) { return wait_for_stream(rt, stream); });
}

WARPSIM_API int cudaStreamQuery(void* stream) {
  return call("cudaStreamQuery", [&](Runtime& rt) { return wait_for_stream(rt, stream, ask); });
}

WARPSIM_API int cudaStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return call("cudaStreamWaitEvent", [&](Runtime& rt) {
    if (flags > 1) return kInvalidValue;
    const Stream* queue = rt.find_stream(stream);
    const Event* awaited = rt.find_event(event);
    if (!queue || !awaited) return kInvalidResourceHandle;
    Error error;
    if (flags == kExternal && rt.captures().of(queue)) {
      is_captured(rt, stream, EventWork{rt.find_event(event), false}, &error);
      return error;
    }
    if (rt.captures().of(queue) || rt.captures().is_captured(awaited))
      return rt.captures().join(queue, awaited);
    rt.backend().stream_waits(queue->number, awaited->number);
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamGetFlags(void* stream, unsigned* flags) {
  return call("cudaStreamGetFlags", [&](Runtime& rt) {
    Stream* found = rt.find_stream(stream);
    if (!found) return kInvalidResourceHandle;
    if (!flags) return kInvalidValue;
    *flags = found->flags;
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamGetPriority(void* stream, int* priority) {
  return call("cudaStreamGetPriority", [&](Runtime& rt) {
    Stream* found = rt.find_stream(stream);
    if (!found) return kInvalidResourceHandle;
    if (!priority) return kInvalidValue;
    *priority = found->priority;
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamGetId(void* stream, unsigned long long* id) {
  return call("cudaStreamGetId", [&](Runtime& rt) {
    Stream* found = rt.find_stream(stream);
    if (!found) return kInvalidResourceHandle;
    if (!id) return kInvalidValue;
    *id = found->number;
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamIsCapturing(void* stream, int* status) {
  return call("cudaStreamIsCapturing", [&](Runtime& rt) {
    if (!status) return kInvalidValue;
    const Stream* queue = rt.find_stream(stream);
    if (!queue) return kInvalidResourceHandle;
    *status = capture_status(rt.captures().of(queue));
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamAttachMemAsync(void* stream, void* pointer, size_t, unsigned) {
  return call("cudaStreamAttachMemAsync", [&](Runtime& rt) {
    const MemoryRange* range = rt.addresses().find(address_of(pointer));
    if (!range || range->kind != MemoryKind::kManaged) return kInvalidValue;
    return rt.find_stream(stream) ? kSuccess : kInvalidResourceHandle;
  });
}

WARPSIM_API int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&](Runtime&) {
    if (least) *least = 0;
    if (greatest) *greatest = kGreatestPriority;
    return kSuccess;
  });
}

WARPSIM_API int cudaStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data,
                                      unsigned flags) {
  return call("cudaStreamAddCallback", [&](Runtime& rt) {
    if (!callback || flags) return kInvalidValue;
    return add_callback(rt, stream, [=] { callback(stream, kSuccess, data); });
  });
}

WARPSIM_API int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return call("cudaLaunchHostFunc", [&](Runtime& rt) {
    if (!function) return kInvalidValue;
    Error wrong;
    if (is_captured(rt, stream, HostNodeParams{function, data}, &wrong)) return wrong;
    return add_callback(rt, stream, [=] { function(data); });
  });
}

WARPSIM_API int cudaEventCreate(void** event) {
  return call("cudaEventCreate", [&](Runtime& rt) { return make_event(rt, event, 0); });
}

WARPSIM_API int cudaEventCreateWithFlags(void** event, unsigned flags) {
  return call("cudaEventCreateWithFlags",
              [&](Runtime& rt) { return make_event(rt, event, flags); });
}

WARPSIM_API int cudaEventRecord(void* event, void* stream) {
  return call("cudaEventRecord", [&](Runtime& rt) { return record(rt, event, stream); });
}

WARPSIM_API int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return call("cudaEventRecordWithFlags", [&](Runtime& rt) {
    Error error;
    Event* recorded = rt.find_event(event);
    if (flags == kExternal && recorded &&
        is_captured(rt, stream, EventWork{recorded, true}, &error))
      return error;
    return flags > 1 ? kInvalidValue : record(rt, event, stream);
  });
}

WARPSIM_API int cudaEventQuery(void* event) {
  return call("cudaEventQuery", [&](Runtime& rt) { return wait_for_event(rt, event, ask); });
}

WARPSIM_API int cudaEventSynchronize(void* event) {
  return call("cudaEventSynchronize", [&](Runtime& rt) { return wait_for_event(rt, event); });
}

WARPSIM_API int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  return call("cudaEventElapsedTime",
              [&](Runtime& rt) { return elapsed(rt, milliseconds, start, end); });
}

WARPSIM_API int cudaEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return call("cudaEventElapsedTime",
              [&](Runtime& rt) { return elapsed(rt, milliseconds, start, end); });
}

WARPSIM_API int cudaEventDestroy(void* event) {
  return call("cudaEventDestroy", [&](Runtime& rt) {
    return rt.destroy_event(event) ? kSuccess : kInvalidResourceHandle;
  });
}

WARPSIM_API int cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [&](Runtime& rt) {
    const Error error = rt.captures().forbids_wait(nullptr);
    return error ? error : wait(rt, HostWait::kDevice, 0);
  });
}

WARPSIM_API int cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
