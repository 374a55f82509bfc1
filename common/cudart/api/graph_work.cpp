// The work of graph nodes: from the parameters of programs, and done.

#include "cudart/api/graph_support.h"

using namespace warpsim;
using namespace warpsim::cudart;

namespace warpsim::cudart {

Error work_of(Runtime& runtime, const KernelNodeParams* params, GraphWork* work) {
  if (!params) return kInvalidValue;
  if (!params->kernelParams && params->extra) {
    runtime.backend().not_provided("cudaGraphAddKernelNode",
                                   "Arguments are taken from kernelParams, not from extra.");
    return kNotSupported;
  }
  KernelWork kernel;
  Error error = describe_launch(runtime, params->func, params->gridDim, params->blockDim,
                                params->sharedMemBytes, false, params->kernelParams, &kernel);
  if (!error) error = check_launch(runtime, kernel);
  *work = std::move(kernel);
  return error;
}

Error work_of(Runtime&, const Memcpy3DParms* params, GraphWork* work) {
  if (!params) return kInvalidValue;
  *work = *params;
  return kSuccess;
}

Error work_of(Runtime&, const MemsetParams* params, GraphWork* work) {
  if (!params || !params->dst) return kInvalidValue;
  if (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4)
    return kInvalidValue;
  *work = *params;
  return kSuccess;
}

Error work_of(Runtime&, const HostNodeParams* params, GraphWork* work) {
  if (!params || !params->fn) return kInvalidValue;
  *work = *params;
  return kSuccess;
}

Error work_of(Runtime& runtime, GraphNodeParams* params, GraphWork* work) {
  if (!params) return kInvalidValue;
  switch (params->type) {
    case kKernelNode:
      return work_of(runtime, &params->kernel, work);
    case kMemcpyNode:
      return work_of(runtime, &params->memcpy.copyParams, work);
    case kMemsetNode:
      return work_of(runtime, &params->memset, work);
    case kHostNode:
      return work_of(runtime, &params->host, work);
    case kEmptyNode:
      return kSuccess;
    case kChildNode: {
      const Graph* child = Graph::find(params->handle);
      if (!child) return kInvalidValue;
      *work = ChildWork{child->clone()};
      return kSuccess;
    }
    case kWaitEventNode:
    case kRecordEventNode: {
      Event* event = runtime.find_event(params->handle);
      if (!event) return kInvalidValue;
      *work = EventWork{event, params->type == kRecordEventNode};
      return kSuccess;
    }
    case kAllocNode:
      if (Error error = allocate_for(runtime, params->alloc.bytesize, &params->alloc.dptr))
        return error;
      *work = AllocWork{params->alloc};
      return kSuccess;
    case kFreeNode:
      *work = FreeWork{params->handle};
      return kSuccess;
    case kConditionalNode:
      return work_of(runtime, &params->conditional, work);
    default:
      runtime.backend().not_provided("cudaGraphAddNode", "Nodes of semaphores are not modelled.");
      return kNotSupported;
  }
}

Error copy_work(Runtime&, void* target, const void* source, size_t bytes, int kind,
                GraphWork* work) {
  if (!target || !source || bytes == 0) return kInvalidValue;
  *work = copy_of_rows(target, bytes, source, bytes, bytes, 1, kind);
  return kSuccess;
}

Error copy_to_symbol(Runtime& runtime, const void* symbol, const void* source, size_t bytes,
                     size_t offset, int kind, GraphWork* work) {
  void* target = nullptr;
  Error error = symbol_pointer(runtime, symbol, bytes, offset, &target);
  return error ? error : copy_work(runtime, target, source, bytes, kind, work);
}

Error copy_from_symbol(Runtime& runtime, void* target, const void* symbol, size_t bytes,
                       size_t offset, int kind, GraphWork* work) {
  void* source = nullptr;
  Error error = symbol_pointer(runtime, symbol, bytes, offset, &source);
  return error ? error : copy_work(runtime, target, source, bytes, kind, work);
}

Error replace_work(GraphNode* node, GraphWork work) {
  if (!node || node->work.index() != work.index()) return kInvalidValue;
  node->work = std::move(work);
  return kSuccess;
}

namespace {

// Streams for the branches of graphs, and events that order them; used again by each launch.
struct Lanes {
  std::vector<void*> streams, events;

  void* stream(Runtime& runtime, size_t number) {
    constexpr unsigned kNonBlocking = 1;
    while (streams.size() <= number) streams.push_back(runtime.create_stream(kNonBlocking, 0));
    return streams[number];
  }
  void* event(Runtime& runtime, size_t number) {
    constexpr unsigned kDisableTiming = 2;
    while (events.size() <= number) events.push_back(runtime.create_event(kDisableTiming));
    return events[number];
  }
};

class Carrying {
 public:
  Carrying(Runtime& runtime, Lanes& lanes, bool frees_first)
      : runtime_(runtime), lanes_(lanes), frees_first_(frees_first) {}

  Error graph(const Graph& graph, void* stream);

 private:
  void record(size_t event, void* stream) {
    runtime_.backend().event_recorded(number_of(event), runtime_.find_stream(stream)->number);
  }
  void wait(void* stream, size_t event) {
    runtime_.backend().stream_waits(runtime_.find_stream(stream)->number, number_of(event));
  }
  uint32_t number_of(size_t event) {
    return static_cast<Event*>(lanes_.event(runtime_, event))->number;
  }
  Error work(const GraphNode& node, void* stream);
  Error host_function(const HostNodeParams& host, void* stream);
  Error conditional(const ConditionalWork& node, void* stream);

  Runtime& runtime_;
  Lanes& lanes_;
  const bool frees_first_;
  size_t first_event_ = 0, first_lane_ = 0;
};

Error Carrying::graph(const Graph& graph, void* stream) {
  const GraphSchedule schedule = schedule_of(graph);
  // Those of child graphs come after these.
  const size_t begin = first_event_, steps = begin + 1, lanes = first_lane_;
  first_event_ += 1 + schedule.steps.size();
  first_lane_ += schedule.lanes - 1;
  auto stream_of = [&](uint32_t lane) {
    return lane == 0 ? stream : lanes_.stream(runtime_, lanes + lane - 1);
  };
  if (schedule.lanes > 1) {
    for (uint32_t lane = 1; lane < schedule.lanes; ++lane) stream_of(lane);
    record(begin, stream);
  }
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const GraphSchedule::Step& step = schedule.steps[i];
    void* queue = stream_of(step.lane);
    if (step.begins_lane) wait(queue, begin);
    for (size_t earlier : step.waits) wait(queue, steps + earlier);
    if (step.node->is_enabled) {
      runtime_.backend().called_from(step.node->made_at);
      if (Error error = work(*step.node, queue)) return error;
    }
    if (step.is_awaited) record(steps + i, queue);
  }
  for (size_t end : schedule.ends) wait(stream, steps + end);
  return kSuccess;
}

Error Carrying::host_function(const HostNodeParams& host, void* stream) {
  runtime_.callbacks().add(runtime_.find_stream(stream)->number,
                           [host] { host.fn(host.userData); });
  return kSuccess;
}

// The condition is looked at when all before the node is done, and nothing goes on beside it.
Error Carrying::conditional(const ConditionalWork& node, void* stream) {
  const size_t event = first_event_, lane = first_lane_;
  for (;;) {
    const uint32_t value = condition_value(runtime_, node.condition);
    size_t body = value;  // of a switch
    if (node.type == kIfCondition) body = value != 0 ? 0 : 1;
    if (node.type == kWhileCondition) body = value != 0 ? 0 : node.bodies.size();
    if (body >= node.bodies.size()) return kSuccess;
    first_event_ = event, first_lane_ = lane;
    if (Error error = graph(*node.bodies[body], stream)) return error;
    // A kernel that was stopped will never say that it is enough.
    if (node.type != kWhileCondition || runtime_.has_unseen_fault() || runtime_.sticky_error())
      return kSuccess;
  }
}

Error Carrying::work(const GraphNode& node, void* stream) {
  const uint32_t number = runtime_.find_stream(stream)->number;
  if (const auto* kernel = std::get_if<KernelWork>(&node.work))
    return launch(runtime_, *kernel, stream, false);
  if (const auto* copy = std::get_if<Memcpy3DParms>(&node.work))
    return copy_3d(runtime_, copy, stream);
  if (const auto* fill = std::get_if<MemsetParams>(&node.work))
    return fill_elements(runtime_, *fill, stream);
  if (const auto* host = std::get_if<HostNodeParams>(&node.work))
    return host_function(*host, stream);
  if (const auto* child = std::get_if<ChildWork>(&node.work)) return graph(*child->graph, stream);
  if (const auto* chosen = std::get_if<ConditionalWork>(&node.work))
    return conditional(*chosen, stream);
  if (const auto* at = std::get_if<EventWork>(&node.work)) {
    if (!runtime_.find_event(at->event)) return kInvalidResourceHandle;
    if (at->is_record) {
      at->event->is_recorded = true;
      at->event->time_ms = runtime_.timeline().record_event();
      runtime_.backend().event_recorded(at->event->number, number);
    } else {
      runtime_.backend().stream_waits(number, at->event->number);
    }
    return kSuccess;
  }
  if (const auto* made = std::get_if<AllocWork>(&node.work)) {
    const MemoryRange range{address_of(made->params.dptr), made->params.bytesize,
                            MemoryKind::kDevice, kOfGraph};
    if (runtime_.addresses().starting_at(range.address) && !made->is_first) {
      if (!frees_first_) return kInvalidValue;
      runtime_.pools().of_graphs().give(range.bytes);
    }
    made->is_first = false;
    runtime_.addresses().add(range);
    runtime_.pools().of_graphs().take(range.bytes);
    runtime_.backend().allocated_in(number, range);
    return kSuccess;
  }
  if (const auto* freed = std::get_if<FreeWork>(&node.work)) {
    const MemoryRange* range = runtime_.addresses().starting_at(address_of(freed->pointer));
    if (!range) return kInvalidValue;
    runtime_.backend().releases_in(number, *range);
    runtime_.pools().of_graphs().give(range->bytes);
    runtime_.addresses().remove(range->address);
  }
  return kSuccess;
}

}  // namespace

Error carry_out(Runtime& runtime, const Graph& graph, void* stream, bool frees_first) {
  // A host function of the graph may not launch another, so one set of lanes is in use at a time.
  static Lanes lanes;
  for (void*& handle : lanes.streams) {
    if (!runtime.find_stream(handle)) lanes = {};  // cudaDeviceReset
    break;
  }
  // The first work of the graph may be a function of the host, which asks for none before it.
  runtime.callbacks().run_before_work(runtime.find_stream(stream)->number);
  set_default_conditions(runtime, graph);
  return Carrying(runtime, lanes, frees_first).graph(graph, stream);
}

}  // namespace warpsim::cudart
