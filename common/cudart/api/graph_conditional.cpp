// Conditional nodes: graphs within a graph that are done or not, once or again and again, as a
// kernel has said by cudaGraphSetConditional(). A condition is a word of device memory, whose
// address is its handle.

#include "cudart/api/graph_support.h"

using namespace warpsim;
using namespace warpsim::cudart;

namespace warpsim::cudart {

Error work_of(Runtime&, ConditionalNodeParams* params, GraphWork* work) {
  const bool is_if = params->type == kIfCondition, is_while = params->type == kWhileCondition;
  if (!is_if && !is_while && params->type != kSwitchCondition) return kInvalidValue;
  if (params->handle == 0 || params->size == 0) return kInvalidValue;
  if ((is_if && params->size > 2) || (is_while && params->size > 1)) return kInvalidValue;
  ConditionalWork made;
  made.condition = params->handle;
  made.type = params->type;
  made.handles = std::make_shared<std::vector<void*>>();
  for (unsigned i = 0; i < params->size; ++i) {
    made.bodies.push_back(std::make_shared<Graph>());
    made.handles->push_back(made.bodies.back().get());
  }
  params->graphs = made.handles->data();
  *work = std::move(made);
  return kSuccess;
}

uint32_t condition_value(Runtime& runtime, uint64_t condition) {
  uint32_t value = 0;
  runtime.backend().simulator().memory().read(condition, &value, sizeof value);
  return value;
}

void set_default_conditions(Runtime& runtime, const Graph& graph) {
  DeviceMemory& memory = runtime.backend().simulator().memory();
  for (const auto& [condition, value] : graph.default_conditions)
    memory.write(condition, &value, sizeof value);
  for (const auto& node : graph.nodes) {
    if (const auto* child = std::get_if<ChildWork>(&node->work))
      set_default_conditions(runtime, *child->graph);
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const auto& body : conditional->bodies) set_default_conditions(runtime, *body);
    }
  }
}

}  // namespace warpsim::cudart

WARPSIM_API int cudaGraphConditionalHandleCreate(unsigned long long* handle, void* graph_handle,
                                                 unsigned value, unsigned flags) {
  return call("cudaGraphConditionalHandleCreate", [&](Runtime& rt) {
    constexpr unsigned kAssignDefault = 1;
    if (rt.is_recording()) {
      rt.backend().not_provided("cudaGraphConditionalHandleCreate",
                                "A list of launches has no conditions.");
      return kNotSupported;
    }
    Graph* graph = Graph::find(graph_handle);
    if (!handle || !graph || flags > kAssignDefault) return kInvalidValue;
    DeviceMemory& memory = rt.backend().simulator().memory();
    *handle = memory.allocate(sizeof value, "the condition of a node");
    if (*handle == 0) return kMemoryAllocation;
    constexpr unsigned kUnset = 0;
    memory.write(*handle, &kUnset, sizeof kUnset);
    if (flags & kAssignDefault) graph->default_conditions[*handle] = value;
    return kSuccess;
  });
}
