// Graphs and their nodes: made, asked for, changed.

#include <algorithm>
#include <cstdio>

#include "cudart/api/graph_support.h"

using namespace warpsim::cudart;

namespace {

// Adds a node of a type whose parameters are one structure.
template <typename Params>
Error add(Runtime& rt, void** node, void* graph, void* const* before, size_t count,
          const Params* params) {
  return add_node(rt, node, graph, before, count,
                  [&](GraphWork* work) { return work_of(rt, params, work); });
}

// The parameters of a node whose work is such a structure.
template <typename Work>
Error get(void* handle, Work* params) {
  const GraphNode* node = GraphNode::find(handle);
  const Work* work = node ? std::get_if<Work>(&node->work) : nullptr;
  if (!work || !params) return kInvalidValue;
  *params = *work;
  return kSuccess;
}

template <typename Params>
Error set(Runtime& rt, void* handle, const Params* params) {
  GraphWork work;
  if (Error error = work_of(rt, params, &work)) return error;
  return replace_work(GraphNode::find(handle), std::move(work));
}

// Fills a list as all calls of this kind do: *count is its room, and becomes what there is.
Error list_nodes(const std::vector<GraphNode*>& nodes, void** list, size_t* count) {
  if (!count) return kInvalidValue;
  if (list) {
    for (size_t i = 0; i < *count; ++i) list[i] = i < nodes.size() ? nodes[i] : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return kSuccess;
}

Error add_event(Runtime& rt, void** node, void* graph, void* const* before, size_t count,
                void* event, bool is_record) {
  return add_node(rt, node, graph, before, count, [&](GraphWork* work) {
    Event* found = rt.find_event(event);
    *work = EventWork{found, is_record};
    return found ? kSuccess : kInvalidValue;
  });
}

Error get_event(void* handle, void** event, bool is_record) {
  const GraphNode* node = GraphNode::find(handle);
  const EventWork* work = node ? std::get_if<EventWork>(&node->work) : nullptr;
  if (!work || work->is_record != is_record || !event) return kInvalidValue;
  *event = work->event;
  return kSuccess;
}

Error set_event(Runtime& rt, void* handle, void* event, bool is_record) {
  Event* found = rt.find_event(event);
  return found ? replace_work(GraphNode::find(handle), EventWork{found, is_record}) : kInvalidValue;
}

}  // namespace

Error warpsim::cudart::allocate_for(Runtime& rt, size_t bytes, void** pointer) {
  if (rt.is_recording()) {
    rt.backend().not_provided("cudaGraphAddMemAllocNode",
                              "A plan's memory is not made by graphs; allocate it with "
                              "cudaMalloc before the graph.");
    return kNotSupported;
  }
  if (bytes == 0) return kInvalidValue;
  const uint64_t address = rt.backend().allocate(bytes, MemoryKind::kDevice);
  if (!address) return kMemoryAllocation;
  rt.addresses().add({address, bytes, MemoryKind::kDevice, kOfGraph});
  rt.pools().add_of_graphs(address);
  *pointer = pointer_to(address);
  return kSuccess;
}

WARPSIM_API int cudaGraphCreate(void** graph, unsigned flags) {
  return call("cudaGraphCreate", [&](Runtime& rt) {
    if (!graph || flags) return kInvalidValue;
    *graph = rt.graphs().adopt(std::make_unique<Graph>());
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphDestroy(void* graph) {
  return call("cudaGraphDestroy",
              [&](Runtime& rt) { return rt.graphs().destroy(graph) ? kSuccess : kInvalidValue; });
}

WARPSIM_API int cudaGraphClone(void** clone, void* original) {
  return call("cudaGraphClone", [&](Runtime& rt) {
    const Graph* graph = Graph::find(original);
    if (!clone || !graph) return kInvalidValue;
    *clone = rt.graphs().adopt(graph->clone());
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphNodeFindInClone(void** node, void* original, void* clone) {
  return call("cudaGraphNodeFindInClone", [&](Runtime&) {
    const Graph* graph = Graph::find(clone);
    GraphNode* found = graph ? graph->clone_of(GraphNode::find(original)) : nullptr;
    if (!node || !found) return kInvalidValue;
    *node = found;
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphAddKernelNode(void** node, void* graph, void* const* before, size_t count,
                                       const KernelNodeParams* params) {
  return call("cudaGraphAddKernelNode",
              [&](Runtime& rt) { return add(rt, node, graph, before, count, params); });
}

WARPSIM_API int cudaGraphAddMemcpyNode(void** node, void* graph, void* const* before, size_t count,
                                       const Memcpy3DParms* params) {
  return call("cudaGraphAddMemcpyNode",
              [&](Runtime& rt) { return add(rt, node, graph, before, count, params); });
}

WARPSIM_API int cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* before,
                                         size_t count, void* target, const void* source,
                                         size_t bytes, int kind) {
  return call("cudaGraphAddMemcpyNode1D", [&](Runtime& rt) {
    return add_node(rt, node, graph, before, count, [&](GraphWork* work) {
      return copy_work(rt, target, source, bytes, kind, work);
    });
  });
}

WARPSIM_API int cudaGraphAddMemcpyNodeToSymbol(void** node, void* graph, void* const* before,
                                               size_t count, const void* symbol, const void* source,
                                               size_t bytes, size_t offset, int kind) {
  return call("cudaGraphAddMemcpyNodeToSymbol", [&](Runtime& rt) {
    return add_node(rt, node, graph, before, count, [&](GraphWork* work) {
      return copy_to_symbol(rt, symbol, source, bytes, offset, kind, work);
    });
  });
}

WARPSIM_API int cudaGraphAddMemcpyNodeFromSymbol(void** node, void* graph, void* const* before,
                                                 size_t count, void* target, const void* symbol,
                                                 size_t bytes, size_t offset, int kind) {
  return call("cudaGraphAddMemcpyNodeFromSymbol", [&](Runtime& rt) {
    return add_node(rt, node, graph, before, count, [&](GraphWork* work) {
      return copy_from_symbol(rt, target, symbol, bytes, offset, kind, work);
    });
  });
}

WARPSIM_API int cudaGraphAddMemsetNode(void** node, void* graph, void* const* before, size_t count,
                                       const MemsetParams* params) {
  return call("cudaGraphAddMemsetNode",
              [&](Runtime& rt) { return add(rt, node, graph, before, count, params); });
}

WARPSIM_API int cudaGraphAddHostNode(void** node, void* graph, void* const* before, size_t count,
                                     const HostNodeParams* params) {
  return call("cudaGraphAddHostNode",
              [&](Runtime& rt) { return add(rt, node, graph, before, count, params); });
}

WARPSIM_API int cudaGraphAddChildGraphNode(void** node, void* graph, void* const* before,
                                           size_t count, void* child) {
  return call("cudaGraphAddChildGraphNode", [&](Runtime& rt) {
    return add_node(rt, node, graph, before, count, [&](GraphWork* work) {
      const Graph* found = Graph::find(child);
      if (!found) return kInvalidValue;
      *work = ChildWork{found->clone()};
      return kSuccess;
    });
  });
}

WARPSIM_API int cudaGraphAddEmptyNode(void** node, void* graph, void* const* before, size_t count) {
  return call("cudaGraphAddEmptyNode", [&](Runtime& rt) {
    return add_node(rt, node, graph, before, count, [](GraphWork*) { return kSuccess; });
  });
}

WARPSIM_API int cudaGraphAddEventRecordNode(void** node, void* graph, void* const* before,
                                            size_t count, void* event) {
  return call("cudaGraphAddEventRecordNode",
              [&](Runtime& rt) { return add_event(rt, node, graph, before, count, event, true); });
}

WARPSIM_API int cudaGraphAddEventWaitNode(void** node, void* graph, void* const* before,
                                          size_t count, void* event) {
  return call("cudaGraphAddEventWaitNode",
              [&](Runtime& rt) { return add_event(rt, node, graph, before, count, event, false); });
}

WARPSIM_API int cudaGraphAddMemAllocNode(void** node, void* graph, void* const* before,
                                         size_t count, MemAllocNodeParams* params) {
  return call("cudaGraphAddMemAllocNode", [&](Runtime& rt) {
    return add_node(rt, node, graph, before, count, [&](GraphWork* work) {
      if (!params) return kInvalidValue;
      if (Error error = allocate_for(rt, params->bytesize, &params->dptr)) return error;
      *work = AllocWork{*params};
      return kSuccess;
    });
  });
}

WARPSIM_API int cudaGraphAddMemFreeNode(void** node, void* graph, void* const* before, size_t count,
                                        void* pointer) {
  return call("cudaGraphAddMemFreeNode", [&](Runtime& rt) {
    return add_node(rt, node, graph, before, count, [&](GraphWork* work) {
      if (!rt.pools().is_of_graphs(address_of(pointer))) return kInvalidValue;
      *work = FreeWork{pointer};
      return kSuccess;
    });
  });
}

WARPSIM_API int cudaGraphDestroyNode(void* handle) {
  return call("cudaGraphDestroyNode", [&](Runtime&) {
    GraphNode* node = GraphNode::find(handle);
    if (!node) return kInvalidValue;
    node->graph->remove(node);
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphNodeGetType(void* handle, int* type) {
  return call("cudaGraphNodeGetType", [&](Runtime&) {
    const GraphNode* node = GraphNode::find(handle);
    if (!node || !type) return kInvalidValue;
    *type = node->type();
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphGetNodes(void* handle, void** list, size_t* count) {
  return call("cudaGraphGetNodes", [&](Runtime&) {
    const Graph* graph = Graph::find(handle);
    if (!graph) return kInvalidValue;
    std::vector<GraphNode*> nodes;
    for (const auto& node : graph->nodes) nodes.push_back(node.get());
    return list_nodes(nodes, list, count);
  });
}

WARPSIM_API int cudaGraphGetRootNodes(void* handle, void** list, size_t* count) {
  return call("cudaGraphGetRootNodes", [&](Runtime&) {
    const Graph* graph = Graph::find(handle);
    if (!graph) return kInvalidValue;
    std::vector<GraphNode*> nodes;
    for (const auto& node : graph->nodes) {
      if (node->dependencies.empty()) nodes.push_back(node.get());
    }
    return list_nodes(nodes, list, count);
  });
}

WARPSIM_API int cudaGraphKernelNodeGetParams(void* handle, KernelNodeParams* params) {
  return call("cudaGraphKernelNodeGetParams", [&](Runtime&) {
    GraphNode* node = GraphNode::find(handle);
    KernelWork* work = node ? std::get_if<KernelWork>(&node->work) : nullptr;
    if (!work || !params) return kInvalidValue;
    node->arguments.clear();
    for (uint32_t offset : work->kernel->info.param_offsets)
      node->arguments.push_back(work->params.data() + offset);
    *params = {const_cast<void*>(work->function),
               work->grid,
               work->block,
               static_cast<unsigned>(work->shared_bytes),
               node->arguments.data(),
               nullptr};
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphKernelNodeSetParams(void* node, const KernelNodeParams* params) {
  return call("cudaGraphKernelNodeSetParams", [&](Runtime& rt) { return set(rt, node, params); });
}

WARPSIM_API int cudaGraphMemcpyNodeGetParams(void* node, Memcpy3DParms* params) {
  return call("cudaGraphMemcpyNodeGetParams", [&](Runtime&) { return get(node, params); });
}

WARPSIM_API int cudaGraphMemcpyNodeSetParams(void* node, const Memcpy3DParms* params) {
  return call("cudaGraphMemcpyNodeSetParams", [&](Runtime& rt) { return set(rt, node, params); });
}

WARPSIM_API int cudaGraphMemcpyNodeSetParams1D(void* node, void* target, const void* source,
                                               size_t bytes, int kind) {
  return call("cudaGraphMemcpyNodeSetParams1D", [&](Runtime& rt) {
    GraphWork work;
    Error error = copy_work(rt, target, source, bytes, kind, &work);
    return error ? error : replace_work(GraphNode::find(node), std::move(work));
  });
}

WARPSIM_API int cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol,
                                                     const void* source, size_t bytes,
                                                     size_t offset, int kind) {
  return call("cudaGraphMemcpyNodeSetParamsToSymbol", [&](Runtime& rt) {
    GraphWork work;
    Error error = copy_to_symbol(rt, symbol, source, bytes, offset, kind, &work);
    return error ? error : replace_work(GraphNode::find(node), std::move(work));
  });
}

WARPSIM_API int cudaGraphMemcpyNodeSetParamsFromSymbol(void* node, void* target, const void* symbol,
                                                       size_t bytes, size_t offset, int kind) {
  return call("cudaGraphMemcpyNodeSetParamsFromSymbol", [&](Runtime& rt) {
    GraphWork work;
    Error error = copy_from_symbol(rt, target, symbol, bytes, offset, kind, &work);
    return error ? error : replace_work(GraphNode::find(node), std::move(work));
  });
}

WARPSIM_API int cudaGraphMemsetNodeGetParams(void* node, MemsetParams* params) {
  return call("cudaGraphMemsetNodeGetParams", [&](Runtime&) { return get(node, params); });
}

WARPSIM_API int cudaGraphMemsetNodeSetParams(void* node, const MemsetParams* params) {
  return call("cudaGraphMemsetNodeSetParams", [&](Runtime& rt) { return set(rt, node, params); });
}

WARPSIM_API int cudaGraphHostNodeGetParams(void* node, HostNodeParams* params) {
  return call("cudaGraphHostNodeGetParams", [&](Runtime&) { return get(node, params); });
}

WARPSIM_API int cudaGraphHostNodeSetParams(void* node, const HostNodeParams* params) {
  return call("cudaGraphHostNodeSetParams", [&](Runtime& rt) { return set(rt, node, params); });
}

WARPSIM_API int cudaGraphNodeSetParams(void* node, GraphNodeParams* params) {
  return call("cudaGraphNodeSetParams", [&](Runtime& rt) {
    GraphWork work;
    if (params && params->type == kAllocNode) return kInvalidValue;
    Error error = work_of(rt, params, &work);
    return error ? error : replace_work(GraphNode::find(node), std::move(work));
  });
}

WARPSIM_API int cudaGraphChildGraphNodeGetGraph(void* handle, void** graph) {
  return call("cudaGraphChildGraphNodeGetGraph", [&](Runtime&) {
    const GraphNode* node = GraphNode::find(handle);
    const ChildWork* work = node ? std::get_if<ChildWork>(&node->work) : nullptr;
    if (!work || !graph) return kInvalidValue;
    *graph = work->graph.get();
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphEventRecordNodeGetEvent(void* node, void** event) {
  return call("cudaGraphEventRecordNodeGetEvent",
              [&](Runtime&) { return get_event(node, event, true); });
}

WARPSIM_API int cudaGraphEventRecordNodeSetEvent(void* node, void* event) {
  return call("cudaGraphEventRecordNodeSetEvent",
              [&](Runtime& rt) { return set_event(rt, node, event, true); });
}

WARPSIM_API int cudaGraphEventWaitNodeGetEvent(void* node, void** event) {
  return call("cudaGraphEventWaitNodeGetEvent",
              [&](Runtime&) { return get_event(node, event, false); });
}

WARPSIM_API int cudaGraphEventWaitNodeSetEvent(void* node, void* event) {
  return call("cudaGraphEventWaitNodeSetEvent",
              [&](Runtime& rt) { return set_event(rt, node, event, false); });
}

WARPSIM_API int cudaGraphMemAllocNodeGetParams(void* handle, MemAllocNodeParams* params) {
  return call("cudaGraphMemAllocNodeGetParams", [&](Runtime&) {
    const GraphNode* node = GraphNode::find(handle);
    const AllocWork* work = node ? std::get_if<AllocWork>(&node->work) : nullptr;
    if (!work || !params) return kInvalidValue;
    *params = work->params;
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphMemFreeNodeGetParams(void* handle, void** pointer) {
  return call("cudaGraphMemFreeNodeGetParams", [&](Runtime&) {
    const GraphNode* node = GraphNode::find(handle);
    const FreeWork* work = node ? std::get_if<FreeWork>(&node->work) : nullptr;
    if (!work || !pointer) return kInvalidValue;
    *pointer = work->pointer;
    return kSuccess;
  });
}
