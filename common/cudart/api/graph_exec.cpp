// Graphs that can be launched, and what may be changed in them.

#include "cudart/api/graph_support.h"

using namespace warpsim::cudart;

namespace {

enum UpdateResult : int {  // cudaGraphExecUpdateResult
  kUpdated = 0,
  kTopologyChanged = 2,
  kTypeChanged = 3,
};

Error instantiate(Runtime& rt, void** exec, void* handle, unsigned long long flags) {
  const Graph* graph = Graph::find(handle);
  if (!exec || !graph) return kInvalidValue;
  constexpr unsigned long long kDeviceLaunch = 4, kKnown = 15;
  if (flags & ~kKnown) return kInvalidValue;
  if (flags & kDeviceLaunch) {
    rt.backend().not_provided("cudaGraphInstantiate",
                              "Graphs that kernels launch are not modelled.");
    return kNotSupported;
  }
  if (graph->in_order().size() != graph->nodes.size()) return kInvalidValue;  // a circle
  *exec = rt.graphs().make_exec(*graph, flags);
  return kSuccess;
}

// The node of the launchable graph that was made from `handle`.
GraphNode* twin_of(void* exec, void* handle) {
  const GraphExec* found = GraphExec::find(exec);
  const GraphNode* node = GraphNode::find(handle);
  return found && node ? found->graph->clone_of(node) : nullptr;
}

template <typename Params>
Error set_in_exec(Runtime& rt, void* exec, void* node, Params* params) {
  GraphNode* twin = twin_of(exec, node);
  GraphWork work;
  if (!twin) return kInvalidValue;
  if (Error error = work_of(rt, params, &work)) return error;
  return replace_work(twin, std::move(work));
}

Error set_event_in_exec(Runtime& rt, void* exec, void* node, void* event, bool is_record) {
  GraphNode* twin = twin_of(exec, node);
  Event* found = rt.find_event(event);
  return twin && found ? replace_work(twin, EventWork{found, is_record}) : kInvalidValue;
}

// Gives each node of `exec` the work of the node of `graph` at the same place.
UpdateResult update(Graph* exec, const Graph& graph, GraphUpdateInfo* info) {
  auto differs = [&](const GraphNode* node, UpdateResult why) {
    info->errorNode = const_cast<GraphNode*>(node);
    return why;
  };
  if (exec->nodes.size() != graph.nodes.size()) return differs(nullptr, kTopologyChanged);
  std::map<const GraphNode*, size_t> place;
  for (size_t i = 0; i < graph.nodes.size(); ++i) place[graph.nodes[i].get()] = i;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &from = *graph.nodes[i], &to = *exec->nodes[i];
    if (from.type() != to.type()) return differs(&from, kTypeChanged);
    if (from.dependencies.size() != to.dependencies.size()) return differs(&from, kTopologyChanged);
    for (size_t d = 0; d < from.dependencies.size(); ++d) {
      if (exec->nodes[place.at(from.dependencies[d])].get() != to.dependencies[d])
        return differs(&from, kTopologyChanged);
    }
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& from = *graph.nodes[i];
    GraphNode& to = *exec->nodes[i];
    if (const auto* child = std::get_if<ChildWork>(&from.work)) {
      if (UpdateResult why = update(std::get<ChildWork>(to.work).graph.get(), *child->graph, info))
        return why;
    } else if (const auto* conditional = std::get_if<ConditionalWork>(&from.work)) {
      auto& bodies = std::get<ConditionalWork>(to.work).bodies;
      if (bodies.size() != conditional->bodies.size()) return differs(&from, kTopologyChanged);
      for (size_t body = 0; body < bodies.size(); ++body) {
        if (UpdateResult why = update(bodies[body].get(), *conditional->bodies[body], info))
          return why;
      }
    } else {
      to.work = from.work;
    }
    to.original = &from;
    to.made_at = from.made_at;
  }
  return kUpdated;
}

}  // namespace

WARPSIM_API int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags) {
  return call("cudaGraphInstantiate",
              [&](Runtime& rt) { return instantiate(rt, exec, graph, flags); });
}

WARPSIM_API int cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  return call("cudaGraphInstantiate",
              [&](Runtime& rt) { return instantiate(rt, exec, graph, flags); });
}

WARPSIM_API int cudaGraphInstantiateWithParams(void** exec, void* graph,
                                               GraphInstantiateParams* params) {
  return call("cudaGraphInstantiateWithParams", [&](Runtime& rt) {
    if (!params) return kInvalidValue;
    const Error error = instantiate(rt, exec, graph, params->flags);
    params->errNode_out = nullptr;
    params->result_out = error ? 1 : 0;
    return error;
  });
}

WARPSIM_API int cudaGraphExecDestroy(void* exec) {
  return call("cudaGraphExecDestroy", [&](Runtime& rt) {
    return rt.graphs().destroy_exec(exec) ? kSuccess : kInvalidValue;
  });
}

WARPSIM_API int cudaGraphExecGetFlags(void* exec, unsigned long long* flags) {
  return call("cudaGraphExecGetFlags", [&](Runtime&) {
    const GraphExec* found = GraphExec::find(exec);
    if (!found || !flags) return kInvalidValue;
    *flags = found->flags;
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphLaunch(void* handle, void* stream) {
  return call("cudaGraphLaunch", [&](Runtime& rt) {
    const GraphExec* exec = GraphExec::find(handle);
    if (!exec) return kInvalidValue;
    const Stream* queue = rt.find_stream(stream);
    if (!queue) return kInvalidResourceHandle;
    Error error = kSuccess;
    if (rt.captures().of(queue)) {
      is_captured(rt, stream, ChildWork{exec->graph->clone()}, &error);
      return error;
    }
    if (queue->number == 0) error = rt.captures().forbids_legacy();
    if (error) return error;
    constexpr unsigned long long kAutoFree = 1;
    return carry_out(rt, *exec->graph, stream, (exec->flags & kAutoFree) != 0);
  });
}

WARPSIM_API int cudaGraphUpload(void* exec, void* stream) {
  return call("cudaGraphUpload", [&](Runtime& rt) {
    if (!GraphExec::find(exec)) return kInvalidValue;
    return rt.find_stream(stream) ? kSuccess : kInvalidResourceHandle;
  });
}

WARPSIM_API int cudaGraphExecUpdate(void* handle, void* graph, GraphUpdateInfo* info) {
  return call("cudaGraphExecUpdate", [&](Runtime&) {
    const GraphExec* exec = GraphExec::find(handle);
    const Graph* from = Graph::find(graph);
    if (!exec || !from) return kInvalidValue;
    GraphUpdateInfo result{};
    result.result = update(exec->graph.get(), *from, &result);
    if (info) *info = result;
    return result.result ? kGraphExecUpdateFailure : kSuccess;
  });
}

WARPSIM_API int cudaGraphExecKernelNodeSetParams(void* exec, void* node,
                                                 const KernelNodeParams* params) {
  return call("cudaGraphExecKernelNodeSetParams",
              [&](Runtime& rt) { return set_in_exec(rt, exec, node, params); });
}

WARPSIM_API int cudaGraphExecMemcpyNodeSetParams(void* exec, void* node,
                                                 const Memcpy3DParms* params) {
  return call("cudaGraphExecMemcpyNodeSetParams",
              [&](Runtime& rt) { return set_in_exec(rt, exec, node, params); });
}

WARPSIM_API int cudaGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* target,
                                                   const void* source, size_t bytes, int kind) {
  return call("cudaGraphExecMemcpyNodeSetParams1D", [&](Runtime& rt) {
    GraphWork work;
    Error error = copy_work(rt, target, source, bytes, kind, &work);
    return error ? error : replace_work(twin_of(exec, node), std::move(work));
  });
}

WARPSIM_API int cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node, const void* symbol,
                                                         const void* source, size_t bytes,
                                                         size_t offset, int kind) {
  return call("cudaGraphExecMemcpyNodeSetParamsToSymbol", [&](Runtime& rt) {
    GraphWork work;
    Error error = copy_to_symbol(rt, symbol, source, bytes, offset, kind, &work);
    return error ? error : replace_work(twin_of(exec, node), std::move(work));
  });
}

WARPSIM_API int cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node, void* target,
                                                           const void* symbol, size_t bytes,
                                                           size_t offset, int kind) {
  return call("cudaGraphExecMemcpyNodeSetParamsFromSymbol", [&](Runtime& rt) {
    GraphWork work;
    Error error = copy_from_symbol(rt, target, symbol, bytes, offset, kind, &work);
    return error ? error : replace_work(twin_of(exec, node), std::move(work));
  });
}

WARPSIM_API int cudaGraphExecMemsetNodeSetParams(void* exec, void* node,
                                                 const MemsetParams* params) {
  return call("cudaGraphExecMemsetNodeSetParams",
              [&](Runtime& rt) { return set_in_exec(rt, exec, node, params); });
}

WARPSIM_API int cudaGraphExecHostNodeSetParams(void* exec, void* node,
                                               const HostNodeParams* params) {
  return call("cudaGraphExecHostNodeSetParams",
              [&](Runtime& rt) { return set_in_exec(rt, exec, node, params); });
}

WARPSIM_API int cudaGraphExecNodeSetParams(void* exec, void* node, GraphNodeParams* params) {
  return call("cudaGraphExecNodeSetParams", [&](Runtime& rt) {
    if (params && params->type == kAllocNode) return kInvalidValue;
    return set_in_exec(rt, exec, node, params);
  });
}

WARPSIM_API int cudaGraphExecChildGraphNodeSetParams(void* exec, void* node, void* child) {
  return call("cudaGraphExecChildGraphNodeSetParams", [&](Runtime&) {
    GraphNode* twin = twin_of(exec, node);
    const Graph* graph = Graph::find(child);
    ChildWork* work = twin ? std::get_if<ChildWork>(&twin->work) : nullptr;
    if (!work || !graph) return kInvalidValue;
    GraphUpdateInfo info{};
    return update(work->graph.get(), *graph, &info) ? kInvalidValue : kSuccess;
  });
}

WARPSIM_API int cudaGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
  return call("cudaGraphExecEventRecordNodeSetEvent",
              [&](Runtime& rt) { return set_event_in_exec(rt, exec, node, event, true); });
}

WARPSIM_API int cudaGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
  return call("cudaGraphExecEventWaitNodeSetEvent",
              [&](Runtime& rt) { return set_event_in_exec(rt, exec, node, event, false); });
}

WARPSIM_API int cudaGraphNodeSetEnabled(void* exec, void* node, unsigned is_enabled) {
  return call("cudaGraphNodeSetEnabled", [&](Runtime&) {
    GraphNode* twin = twin_of(exec, node);
    if (!twin) return kInvalidValue;
    const GraphNodeType type = twin->type();
    if (type != kKernelNode && type != kMemcpyNode && type != kMemsetNode) return kInvalidValue;
    twin->is_enabled = is_enabled != 0;
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphNodeGetEnabled(void* exec, void* node, unsigned* is_enabled) {
  return call("cudaGraphNodeGetEnabled", [&](Runtime&) {
    const GraphNode* twin = twin_of(exec, node);
    if (!twin || !is_enabled) return kInvalidValue;
    *is_enabled = twin->is_enabled;
    return kSuccess;
  });
}
