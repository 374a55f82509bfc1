#include "cudart/graph.h"

#include <algorithm>

namespace warpsim::cudart {

GraphNodeType GraphNode::type() const {
  struct {
    GraphNodeType operator()(const EmptyWork&) const { return kEmptyNode; }
    GraphNodeType operator()(const KernelWork&) const { return kKernelNode; }
    GraphNodeType operator()(const Memcpy3DParms&) const { return kMemcpyNode; }
    GraphNodeType operator()(const MemsetParams&) const { return kMemsetNode; }
    GraphNodeType operator()(const HostNodeParams&) const { return kHostNode; }
    GraphNodeType operator()(const ChildWork&) const { return kChildNode; }
    GraphNodeType operator()(const EventWork& w) const {
      return w.is_record ? kRecordEventNode : kWaitEventNode;
    }
    GraphNodeType operator()(const AllocWork&) const { return kAllocNode; }
    GraphNodeType operator()(const FreeWork&) const { return kFreeNode; }
    GraphNodeType operator()(const ConditionalWork&) const { return kConditionalNode; }
  } type_of;
  return std::visit(type_of, work);
}

GraphNode* Graph::add(GraphWork work, std::vector<GraphNode*> dependencies, const void* made_at) {
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->work = std::move(work);
  for (GraphNode* dependency : dependencies) {
    if (std::find(node->dependencies.begin(), node->dependencies.end(), dependency) ==
        node->dependencies.end())
      node->dependencies.push_back(dependency);
  }
  node->made_at = made_at;
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

void Graph::remove(GraphNode* node) {
  for (const auto& other : nodes) std::erase(other->dependencies, node);
  std::erase_if(nodes, [&](const auto& entry) { return entry.get() == node; });
}

std::vector<GraphNode*> Graph::in_order() const {
  std::map<const GraphNode*, size_t> index, open;
  std::map<const GraphNode*, std::vector<size_t>> dependents;
  for (size_t i = 0; i < nodes.size(); ++i) {
    index[nodes[i].get()] = i;
    open[nodes[i].get()] = nodes[i]->dependencies.size();
    for (const GraphNode* before : nodes[i]->dependencies) dependents[before].push_back(i);
  }
  std::set<size_t> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->dependencies.empty()) ready.insert(i);
  }
  std::vector<GraphNode*> order;
  while (!ready.empty()) {
    const size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(nodes[next].get());
    for (size_t dependent : dependents[nodes[next].get()]) {
      if (--open[nodes[dependent].get()] == 0) ready.insert(dependent);
    }
  }
  return order;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->references = references;
  copy->default_conditions = default_conditions;
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : nodes) {
    GraphNode* made = copy->add(node->work, {}, node->made_at);
    if (auto* child = std::get_if<ChildWork>(&made->work)) child->graph = child->graph->clone();
    if (auto* conditional = std::get_if<ConditionalWork>(&made->work)) {
      for (std::shared_ptr<Graph>& body : conditional->bodies) body = body->clone();
    }
    made->original = node.get();
    made->is_enabled = node->is_enabled;
    twin[node.get()] = made;
  }
  for (const auto& node : nodes) {
    for (const GraphNode* before : node->dependencies)
      twin[node.get()]->dependencies.push_back(twin[before]);
  }
  return copy;
}

GraphNode* Graph::clone_of(const GraphNode* original) const {
  for (const auto& node : nodes) {
    if (node->original == original) return node.get();
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (GraphNode* found = child->graph->clone_of(original)) return found;
    }
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const std::shared_ptr<Graph>& body : conditional->bodies) {
        if (GraphNode* found = body->clone_of(original)) return found;
      }
    }
  }
  return nullptr;
}

bool is_before(const GraphNode* node, const std::vector<GraphNode*>& ends) {
  std::vector<const GraphNode*> open(ends.begin(), ends.end());
  std::set<const GraphNode*> seen(ends.begin(), ends.end());
  while (!open.empty()) {
    const GraphNode* at = open.back();
    open.pop_back();
    if (at == node) return true;
    for (const GraphNode* before : at->dependencies) {
      if (seen.insert(before).second) open.push_back(before);
    }
  }
  return false;
}

GraphSchedule schedule_of(const Graph& graph) {
  GraphSchedule schedule;
  std::map<const GraphNode*, size_t> step_of;
  std::vector<size_t> last;  // the last step of each lane
  for (GraphNode* node : graph.in_order()) {
    GraphSchedule::Step step;
    step.node = node;
    const size_t number = schedule.steps.size();
    size_t goes_on = number;  // the step whose lane this one continues
    for (const GraphNode* before : node->dependencies) {
      const size_t earlier = step_of.at(before);
      if (last[schedule.steps[earlier].lane] == earlier) {
        goes_on = earlier;
        break;
      }
    }
    if (goes_on != number) {
      step.lane = schedule.steps[goes_on].lane;
      last[step.lane] = number;
    } else {
      step.lane = static_cast<uint32_t>(last.size());
      step.begins_lane = step.lane > 0;
      last.push_back(number);
    }
    for (const GraphNode* before : node->dependencies) {
      const size_t earlier = step_of.at(before);
      if (schedule.steps[earlier].lane == step.lane) continue;
      schedule.steps[earlier].is_awaited = true;
      step.waits.push_back(earlier);
    }
    step_of[node] = number;
    schedule.steps.push_back(std::move(step));
  }
  for (size_t lane = 1; lane < last.size(); ++lane) {
    schedule.steps[last[lane]].is_awaited = true;
    schedule.ends.push_back(last[lane]);
  }
  schedule.lanes = std::max<uint32_t>(1, static_cast<uint32_t>(last.size()));
  return schedule;
}

Graph* Graphs::adopt(std::unique_ptr<Graph> graph) {
  Graph* handle = graph.get();
  graphs_[handle] = std::move(graph);
  return handle;
}

bool Graphs::destroy(const void* handle) {
  return graphs_.erase(handle) > 0;
}

GraphExec* Graphs::make_exec(const Graph& graph, unsigned long long flags) {
  auto exec = std::make_unique<GraphExec>();
  exec->graph = graph.clone();
  exec->flags = flags;
  GraphExec* handle = exec.get();
  execs_[handle] = std::move(exec);
  return handle;
}

bool Graphs::destroy_exec(const void* handle) {
  return execs_.erase(handle) > 0;
}

}  // namespace warpsim::cudart
