// What the calls about graphs share.

#pragma once

#include "cudart/api/support.h"
#include "cudart/graph.h"

namespace warpsim::cudart {

// The nodes behind handles, all of `graph`; nullopt if one is not.
inline std::optional<std::vector<GraphNode*>> nodes_of(const Graph* graph, void* const* handles,
                                                       size_t count) {
  std::vector<GraphNode*> nodes;
  if (count && !handles) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    GraphNode* node = GraphNode::find(handles[i]);
    if (!node || node->graph != graph) return std::nullopt;
    nodes.push_back(node);
  }
  return nodes;
}

// Adds a node for `work`, which describe(&work) makes or refuses.
template <typename Describe>
Error add_node(Runtime& runtime, void** handle, void* graph_handle, void* const* dependencies,
               size_t count, Describe describe) {
  Graph* graph = Graph::find(graph_handle);
  if (!handle || !graph) return kInvalidValue;
  const auto before = nodes_of(graph, dependencies, count);
  if (!before) return kInvalidValue;
  GraphWork work;
  if (Error error = describe(&work)) return error;
  *handle = graph->add(std::move(work), *before, runtime.backend().caller_address());
  return kSuccess;
}

// Each makes the work of a node from the parameters that a program gives.
Error work_of(Runtime& runtime, const KernelNodeParams* params, GraphWork* work);
Error work_of(Runtime& runtime, const Memcpy3DParms* params, GraphWork* work);
Error work_of(Runtime& runtime, const MemsetParams* params, GraphWork* work);
Error work_of(Runtime& runtime, const HostNodeParams* params, GraphWork* work);
Error work_of(Runtime& runtime, ConditionalNodeParams* params, GraphWork* work);
Error work_of(Runtime& runtime, GraphNodeParams* params, GraphWork* work);
// A copy of `bytes` between two places, each memory or a symbol with an offset.
Error copy_work(Runtime& runtime, void* target, const void* source, size_t bytes, int kind,
                GraphWork* work);
Error copy_to_symbol(Runtime& runtime, const void* symbol, const void* source, size_t bytes,
                     size_t offset, int kind, GraphWork* work);
Error copy_from_symbol(Runtime& runtime, void* target, const void* symbol, size_t bytes,
                       size_t offset, int kind, GraphWork* work);
// Memory that a node of a graph gives out: its address is known at once.
Error allocate_for(Runtime& runtime, size_t bytes, void** pointer);

// What a kernel has set a condition to; what they are before the graph begins.
uint32_t condition_value(Runtime& runtime, uint64_t condition);
void set_default_conditions(Runtime& runtime, const Graph& graph);

// The node that may be given this work: one of the same type.
Error replace_work(GraphNode* node, GraphWork work);

}  // namespace warpsim::cudart
