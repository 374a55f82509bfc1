// Of graphs: attributes of kernel nodes, memory, objects that live as long as they do, pictures.

#include <algorithm>
#include <cstdio>

#include "cudart/api/graph_support.h"

using namespace warpsim::cudart;

namespace warpsim::cudart {

struct UserObject : Known<UserObject> {
  void* object = nullptr;
  HostFunction destroy = nullptr;
  unsigned references = 0;
};

// The last reference ends the object.
static void let_go(UserObject* object, unsigned count) {
  object->references -= std::min(count, object->references);
  if (object->references != 0) return;
  object->destroy(object->object);
  delete object;
}

GraphReference::~GraphReference() {
  if (UserObject* found = UserObject::find(object)) let_go(found, count);
}

}  // namespace warpsim::cudart

namespace {

constexpr int kUsedNow = 0, kUsedMost = 1, kReservedNow = 2, kReservedMost = 3;

uint64_t* memory_attribute(Pool& pool, int attribute) {
  switch (attribute) {
    case kUsedNow:
      return &pool.used;
    case kUsedMost:
      return &pool.used_high;
    case kReservedNow:
      return &pool.reserved;
    case kReservedMost:
      return &pool.reserved_high;
    default:
      return nullptr;
  }
}

const char* type_name(GraphNodeType type) {
  switch (type) {
    case kKernelNode:
      return "kernel";
    case kMemcpyNode:
      return "copy";
    case kMemsetNode:
      return "memset";
    case kHostNode:
      return "host";
    case kChildNode:
      return "graph";
    case kEmptyNode:
      return "empty";
    case kWaitEventNode:
      return "wait for event";
    case kRecordEventNode:
      return "record event";
    case kAllocNode:
      return "allocate";
    case kFreeNode:
      return "free";
    case kConditionalNode:
      return "conditional";
  }
  return "";
}

bool write_dot(const Graph& graph, const char* path) {
  std::FILE* file = std::fopen(path, "w");
  if (!file) return false;
  std::map<const GraphNode*, size_t> number;
  std::fprintf(file, "digraph graph_1 {\n");
  for (const auto& node : graph.nodes) {
    const size_t id = number.size();
    number[node.get()] = id;
    const auto* kernel = std::get_if<KernelWork>(&node->work);
    std::fprintf(file, "  n%zu [label=\"%s%s%s\"];\n", id, type_name(node->type()),
                 kernel ? " " : "", kernel ? kernel->kernel->name.c_str() : "");
  }
  for (const auto& node : graph.nodes) {
    for (const GraphNode* before : node->dependencies)
      std::fprintf(file, "  n%zu -> n%zu;\n", number[before], number[node.get()]);
  }
  std::fprintf(file, "}\n");
  return std::fclose(file) == 0;
}

KernelWork* kernel_of(void* handle) {
  GraphNode* node = GraphNode::find(handle);
  return node ? std::get_if<KernelWork>(&node->work) : nullptr;
}

}  // namespace

WARPSIM_API int cudaGraphKernelNodeSetAttribute(void* node, int attribute, const void* value) {
  return call("cudaGraphKernelNodeSetAttribute", [&](Runtime&) {
    KernelWork* work = kernel_of(node);
    if (!work || !value) return kInvalidValue;
    // The others change how fast it is.
    if (attribute == kAttributeCooperative)
      work->is_cooperative = *static_cast<const int*>(value) != 0;
    if (attribute == kAttributeProgrammaticSerialization)
      work->is_early = *static_cast<const int*>(value) != 0;
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphKernelNodeCopyAttributes(void* source, void* target) {
  return call("cudaGraphKernelNodeCopyAttributes", [&](Runtime&) {
    const KernelWork* from = kernel_of(source);
    KernelWork* to = kernel_of(target);
    if (!from || !to) return kInvalidValue;
    to->is_cooperative = from->is_cooperative;
    to->is_early = from->is_early;
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return call("cudaDeviceGetGraphMemAttribute", [&](Runtime& rt) {
    if (device != 0) return kInvalidDevice;
    const uint64_t* kept = memory_attribute(rt.pools().of_graphs(), attribute);
    if (!kept || !value) return kInvalidValue;
    *static_cast<uint64_t*>(value) = *kept;
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return call("cudaDeviceSetGraphMemAttribute", [&](Runtime& rt) {
    if (device != 0) return kInvalidDevice;
    Pool& pool = rt.pools().of_graphs();
    if (!value || (attribute != kUsedMost && attribute != kReservedMost)) return kInvalidValue;
    *memory_attribute(pool, attribute) = attribute == kUsedMost ? pool.used : pool.reserved;
    return kSuccess;
  });
}

WARPSIM_API int cudaDeviceGraphMemTrim(int device) {
  return call("cudaDeviceGraphMemTrim", [&](Runtime& rt) {
    if (device != 0) return kInvalidDevice;
    rt.pools().of_graphs().trim(0);
    return kSuccess;
  });
}

WARPSIM_API int cudaUserObjectCreate(void** object, void* pointer, HostFunction destroy,
                                     unsigned references, unsigned flags) {
  return call("cudaUserObjectCreate", [&](Runtime&) {
    constexpr unsigned kNoDestructorSync = 1;
    if (!object || !destroy || references == 0 || flags != kNoDestructorSync) return kInvalidValue;
    auto* made = new UserObject;
    made->object = pointer;
    made->destroy = destroy;
    made->references = references;
    *object = made;
    return kSuccess;
  });
}

WARPSIM_API int cudaUserObjectRetain(void* object, unsigned count) {
  return call("cudaUserObjectRetain", [&](Runtime&) {
    UserObject* found = UserObject::find(object);
    if (!found || count == 0) return kInvalidValue;
    found->references += count;
    return kSuccess;
  });
}

WARPSIM_API int cudaUserObjectRelease(void* object, unsigned count) {
  return call("cudaUserObjectRelease", [&](Runtime&) {
    UserObject* found = UserObject::find(object);
    if (!found || count == 0) return kInvalidValue;
    let_go(found, count);
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphRetainUserObject(void* graph, void* object, unsigned count,
                                          unsigned flags) {
  return call("cudaGraphRetainUserObject", [&](Runtime&) {
    constexpr unsigned kMove = 1;
    Graph* keeper = Graph::find(graph);
    UserObject* found = UserObject::find(object);
    if (!keeper || !found || count == 0 || flags > kMove) return kInvalidValue;
    if (flags != kMove) found->references += count;
    keeper->references.push_back(std::make_shared<GraphReference>(object, count));
    return kSuccess;
  });
}

WARPSIM_API int cudaGraphReleaseUserObject(void* graph, void* object, unsigned count) {
  return call("cudaGraphReleaseUserObject", [&](Runtime&) {
    Graph* keeper = Graph::find(graph);
    if (!keeper || !UserObject::find(object)) return kInvalidValue;
    for (auto& reference : keeper->references) {
      if (reference->object != object || reference->count != count) continue;
      std::swap(reference, keeper->references.back());
      keeper->references.pop_back();
      return kSuccess;
    }
    return kInvalidValue;
  });
}

WARPSIM_API int cudaGraphDebugDotPrint(void* handle, const char* path, unsigned) {
  return call("cudaGraphDebugDotPrint", [&](Runtime&) {
    const Graph* graph = Graph::find(handle);
    return graph && path && write_dot(*graph, path) ? kSuccess : kInvalidValue;
  });
}
