// Calls about the edges of graphs. CUDA 13 has data of edges in all of them, CUDA 12 in those whose
// names end in _v2. Compiled once for each library, as versioned.cpp.

#include <algorithm>

#include "cudart/api/graph_support.h"

using namespace warpsim::cudart;

namespace {

constexpr size_t kEdgeDataBytes = 8;

// Edges mean that all work before is done: data that say less are not modelled, and not needed.
void clear_data(void* data, size_t count) {
  if (data) std::fill_n(static_cast<char*>(data), count * kEdgeDataBytes, 0);
}

Error connect(void* handle, void* const* from, void* const* to, size_t count, bool is_added) {
  Graph* graph = Graph::find(handle);
  const auto sources = nodes_of(graph, from, count), targets = nodes_of(graph, to, count);
  if (!graph || !sources || !targets) return kInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    auto& dependencies = (*targets)[i]->dependencies;
    const bool is_there =
        std::find(dependencies.begin(), dependencies.end(), (*sources)[i]) != dependencies.end();
    if (is_there == is_added || (*targets)[i] == (*sources)[i]) return kInvalidValue;
    if (is_added)
      dependencies.push_back((*sources)[i]);
    else
      std::erase(dependencies, (*sources)[i]);
  }
  return kSuccess;
}

Error fill_list(const std::vector<GraphNode*>& nodes, void** list, void* data, size_t* count) {
  if (!count) return kInvalidValue;
  if (!list) {
    *count = nodes.size();
    return kSuccess;
  }
  for (size_t i = 0; i < *count; ++i) list[i] = i < nodes.size() ? nodes[i] : nullptr;
  *count = std::min(*count, nodes.size());
  clear_data(data, *count);
  return kSuccess;
}

std::vector<GraphNode*> dependents_of(const GraphNode& node) {
  std::vector<GraphNode*> found;
  for (const auto& other : node.graph->nodes) {
    const auto& before = other->dependencies;
    if (std::find(before.begin(), before.end(), &node) != before.end())
      found.push_back(other.get());
  }
  return found;
}

Error edges(void* handle, void** from, void** to, void* data, size_t* count) {
  const Graph* graph = Graph::find(handle);
  if (!graph || !count || !from != !to) return kInvalidValue;
  std::vector<GraphNode*> sources, targets;
  for (const auto& node : graph->nodes) {
    for (GraphNode* before : node->dependencies) {
      sources.push_back(before);
      targets.push_back(node.get());
    }
  }
  size_t same = *count;
  if (from) fill_list(sources, from, nullptr, &same);
  return fill_list(targets, to, data, count);
}

Error dependencies(void* handle, void** list, void* data, size_t* count) {
  const GraphNode* node = GraphNode::find(handle);
  return node ? fill_list(node->dependencies, list, data, count) : kInvalidValue;
}

Error dependents(void* handle, void** list, void* data, size_t* count) {
  const GraphNode* node = GraphNode::find(handle);
  return node ? fill_list(dependents_of(*node), list, data, count) : kInvalidValue;
}

Error add_any(Runtime& rt, void** node, void* graph, void* const* before, size_t count,
              GraphNodeParams* params) {
  return add_node(rt, node, graph, before, count,
                  [&](GraphWork* work) { return work_of(rt, params, work); });
}

Error capture_info(Runtime& rt, void* handle, int* status, unsigned long long* id, void** graph,
                   void* const** front, const void** data, size_t* count) {
  const Stream* stream = rt.find_stream(handle);
  if (!stream) return kInvalidResourceHandle;
  if (!status) return kInvalidValue;
  const Capture* capture = rt.captures().of(stream);
  *status = capture_status(capture);
  if (!capture) return kSuccess;
  const std::vector<GraphNode*>& nodes = capture->fronts.at(stream);
  if (id) *id = capture->id;
  if (graph) *graph = capture->graph;
  if (front) *front = reinterpret_cast<void* const*>(nodes.data());
  if (data) *data = nullptr;
  if (count) *count = nodes.size();
  return kSuccess;
}

Error update_front(Runtime& rt, void* handle, void* const* nodes, size_t count, unsigned flags) {
  const Stream* stream = rt.find_stream(handle);
  Capture* capture = stream ? rt.captures().of(stream) : nullptr;
  constexpr unsigned kAdd = 0, kSet = 1;
  if (!capture || flags > kSet) return kInvalidValue;
  const auto front = nodes_of(capture->graph, nodes, count);
  if (!front) return kInvalidValue;
  std::vector<GraphNode*>& current = capture->fronts[stream];
  if (flags == kSet) current.clear();
  static_assert(kAdd == 0);
  for (GraphNode* node : *front) {
    if (std::find(current.begin(), current.end(), node) == current.end()) current.push_back(node);
  }
  return kSuccess;
}

}  // namespace

#if WARPSIM_CUDA_MAJOR == 12
#define WITH_DATA(name) name##_v2

WARPSIM_API int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                         size_t count) {
  return call("cudaGraphAddDependencies",
              [&](Runtime&) { return connect(graph, from, to, count, true); });
}
WARPSIM_API int cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to,
                                            size_t count) {
  return call("cudaGraphRemoveDependencies",
              [&](Runtime&) { return connect(graph, from, to, count, false); });
}
WARPSIM_API int cudaGraphGetEdges(void* graph, void** from, void** to, size_t* count) {
  return call("cudaGraphGetEdges",
              [&](Runtime&) { return edges(graph, from, to, nullptr, count); });
}
WARPSIM_API int cudaGraphNodeGetDependencies(void* node, void** list, size_t* count) {
  return call("cudaGraphNodeGetDependencies",
              [&](Runtime&) { return dependencies(node, list, nullptr, count); });
}
WARPSIM_API int cudaGraphNodeGetDependentNodes(void* node, void** list, size_t* count) {
  return call("cudaGraphNodeGetDependentNodes",
              [&](Runtime&) { return dependents(node, list, nullptr, count); });
}
WARPSIM_API int cudaGraphAddNode(void** node, void* graph, void* const* before, size_t count,
                                 GraphNodeParams* params) {
  return call("cudaGraphAddNode",
              [&](Runtime& rt) { return add_any(rt, node, graph, before, count, params); });
}
WARPSIM_API int cudaStreamUpdateCaptureDependencies(void* stream, void* const* nodes, size_t count,
                                                    unsigned flags) {
  return call("cudaStreamUpdateCaptureDependencies",
              [&](Runtime& rt) { return update_front(rt, stream, nodes, count, flags); });
}
WARPSIM_API int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  return call("cudaStreamGetCaptureInfo", [&](Runtime& rt) {
    return capture_info(rt, stream, status, id, nullptr, nullptr, nullptr, nullptr);
  });
}
WARPSIM_API int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id,
                                            void** graph, void* const** front, size_t* count) {
  return call("cudaStreamGetCaptureInfo", [&](Runtime& rt) {
    return capture_info(rt, stream, status, id, graph, front, nullptr, count);
  });
}
#else
#define WITH_DATA(name) name
#endif

WARPSIM_API int WITH_DATA(cudaGraphAddDependencies)(void* graph, void* const* from, void* const* to,
                                                    const void*, size_t count) {
  return call("cudaGraphAddDependencies",
              [&](Runtime&) { return connect(graph, from, to, count, true); });
}
WARPSIM_API int WITH_DATA(cudaGraphRemoveDependencies)(void* graph, void* const* from,
                                                       void* const* to, const void*, size_t count) {
  return call("cudaGraphRemoveDependencies",
              [&](Runtime&) { return connect(graph, from, to, count, false); });
}
WARPSIM_API int WITH_DATA(cudaGraphGetEdges)(void* graph, void** from, void** to, void* data,
                                             size_t* count) {
  return call("cudaGraphGetEdges", [&](Runtime&) { return edges(graph, from, to, data, count); });
}
WARPSIM_API int WITH_DATA(cudaGraphNodeGetDependencies)(void* node, void** list, void* data,
                                                        size_t* count) {
  return call("cudaGraphNodeGetDependencies",
              [&](Runtime&) { return dependencies(node, list, data, count); });
}
WARPSIM_API int WITH_DATA(cudaGraphNodeGetDependentNodes)(void* node, void** list, void* data,
                                                          size_t* count) {
  return call("cudaGraphNodeGetDependentNodes",
              [&](Runtime&) { return dependents(node, list, data, count); });
}
WARPSIM_API int WITH_DATA(cudaGraphAddNode)(void** node, void* graph, void* const* before,
                                            const void*, size_t count, GraphNodeParams* params) {
  return call("cudaGraphAddNode",
              [&](Runtime& rt) { return add_any(rt, node, graph, before, count, params); });
}
WARPSIM_API int WITH_DATA(cudaStreamUpdateCaptureDependencies)(void* stream, void* const* nodes,
                                                               const void*, size_t count,
                                                               unsigned flags) {
  return call("cudaStreamUpdateCaptureDependencies",
              [&](Runtime& rt) { return update_front(rt, stream, nodes, count, flags); });
}
#if WARPSIM_CUDA_MAJOR == 12
WARPSIM_API int cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id,
                                            void** graph, void* const** front, const void** data,
                                            size_t* count) {
  return call("cudaStreamGetCaptureInfo", [&](Runtime& rt) {
    return capture_info(rt, stream, status, id, graph, front, data, count);
  });
}
#else
WARPSIM_API int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id,
                                         void** graph, void* const** front, const void** data,
                                         size_t* count) {
  return call("cudaStreamGetCaptureInfo", [&](Runtime& rt) {
    return capture_info(rt, stream, status, id, graph, front, data, count);
  });
}
#endif
