// CUDA graphs: work that is described now and done when the graph is launched, as often as that is
// asked for. Nodes come from the calls that add them, or from calls in a stream that is captured
// (capture.h).

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "cudart/abi.h"
#include "cudart/registry.h"

namespace warpsim::cudart {

struct Event;
struct Graph;
class Runtime;

// Handles of a type: those that have been made and not destroyed.
template <typename T>
class Known {
 public:
  static T* find(const void* handle) {
    return handles().count(handle) ? static_cast<T*>(const_cast<void*>(handle)) : nullptr;
  }

 protected:
  Known() { handles().insert(static_cast<T*>(this)); }
  ~Known() { handles().erase(static_cast<T*>(this)); }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

 private:
  static std::set<const void*>& handles() {
    static auto* all = new std::set<const void*>;  // never destroyed, as the runtime
    return *all;
  }
};

struct KernelWork {
  RegisteredKernel* kernel = nullptr;
  const void* function = nullptr;  // as the program names it
  Dim3Abi grid{}, block{};
  size_t shared_bytes = 0;
  bool is_cooperative = false;
  bool is_early = false;
  std::vector<std::byte> params;
};
struct ConditionalWork {
  uint64_t condition = 0;  // address of a word of device memory
  int type = kIfCondition;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::shared_ptr<std::vector<void*>> handles;  // of the bodies, as the program was given them
};
struct EventWork {
  Event* event = nullptr;
  bool is_record = false;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct AllocWork {
  MemAllocNodeParams params{};
  mutable bool is_first = true;  // its address is known before it has been given out
};
struct FreeWork {
  void* pointer = nullptr;
};
struct EmptyWork {};

using GraphWork = std::variant<EmptyWork, KernelWork, Memcpy3DParms, MemsetParams, HostNodeParams,
                               ChildWork, EventWork, AllocWork, FreeWork, ConditionalWork>;

struct GraphNode : Known<GraphNode> {
  Graph* graph = nullptr;
  GraphWork work;
  std::vector<GraphNode*> dependencies;  // each once, in the order they were added
  const GraphNode* original = nullptr;   // of a clone
  const void* made_at = nullptr;         // in the program: findings are of this place
  bool is_enabled = true;
  std::vector<void*> arguments;  // what cudaGraphKernelNodeGetParams hands out

  GraphNodeType type() const;
};

// A program's object (cudaUserObject) that a graph and what was made from it keep alive.
struct GraphReference {
  GraphReference(void* kept, unsigned times) : object(kept), count(times) {}
  GraphReference(const GraphReference&) = delete;
  GraphReference& operator=(const GraphReference&) = delete;
  ~GraphReference();
  void* object;
  unsigned count;
};

struct Graph : Known<Graph> {
  std::vector<std::shared_ptr<GraphReference>> references;
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::map<uint64_t, uint32_t> default_conditions;  // what they are when the graph begins

  GraphNode* add(GraphWork work, std::vector<GraphNode*> dependencies, const void* made_at);
  void remove(GraphNode* node);
  // Each node after those it depends on, otherwise in the order they were added; shorter than
  // `nodes` if they depend on each other in a circle.
  std::vector<GraphNode*> in_order() const;
  std::unique_ptr<Graph> clone() const;
  GraphNode* clone_of(const GraphNode* original) const;
};

// Whether `node` is one of `ends` or must be done before one of them.
bool is_before(const GraphNode* node, const std::vector<GraphNode*>& ends);

// In which stream each node of a graph is done: the graph's own work has no order but its edges.
struct GraphSchedule {
  struct Step {
    GraphNode* node = nullptr;
    uint32_t lane = 0;          // 0: the stream that the graph is launched in
    std::vector<size_t> waits;  // for these steps, of other lanes
    bool is_awaited = false;    // by a step of another lane
    bool begins_lane = false;   // waits for what came before the launch
  };
  std::vector<Step> steps;
  std::vector<size_t> ends;  // of the lanes but the first: the stream waits for them
  uint32_t lanes = 1;
};
GraphSchedule schedule_of(const Graph& graph);

struct GraphExec : Known<GraphExec> {
  std::unique_ptr<Graph> graph;
  unsigned long long flags = 0;
};

// What programs have made and not destroyed yet.
class Graphs {
 public:
  Graph* adopt(std::unique_ptr<Graph> graph);
  bool destroy(const void* handle);
  GraphExec* make_exec(const Graph& graph, unsigned long long flags);
  bool destroy_exec(const void* handle);

 private:
  std::map<const void*, std::unique_ptr<Graph>> graphs_;
  std::map<const void*, std::unique_ptr<GraphExec>> execs_;
};

// Does the graph's work in the stream. The runtime's lock is held once. `frees_first`: memory that
// an earlier launch gave out and nobody freed is free now.
Error carry_out(Runtime& runtime, const Graph& graph, void* stream, bool frees_first);

}  // namespace warpsim::cudart
