// CUDA graphs: made by hand and captured, launched, changed; and calls that a capture forbids.

#include <cstring>
#include <vector>

#include "expect.h"

constexpr int kCount = 256;

__device__ int offset = 3;

__global__ void add(int* p, int value) {
  p[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void sum(const int* a, const int* b, int* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] + b[i];
}

__global__ void add_offset(int* p) {
  p[threadIdx.x] += offset;
}

struct Data {
  int *a, *b, *c;
  std::vector<int> out = std::vector<int>(kCount);
  Data() {
    EXPECT_OK(cudaMalloc(&a, kCount * 4));
    EXPECT_OK(cudaMalloc(&b, kCount * 4));
    EXPECT_OK(cudaMalloc(&c, kCount * 4));
  }
  ~Data() {
    EXPECT_OK(cudaFree(a));
    EXPECT_OK(cudaFree(b));
    EXPECT_OK(cudaFree(c));
  }
  int at(const int* p, int i) {
    EXPECT_OK(cudaMemcpy(out.data(), p, kCount * 4, cudaMemcpyDeviceToHost));
    return out[i];
  }
};

void count_calls(void* data) {
  ++*static_cast<int*>(data);
}

// Two branches that are joined, by hand; then other parameters.
void by_hand() {
  Data d;
  cudaGraph_t graph;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill{d.a, 0, 0x01020304, 4, kCount, 1};
  cudaGraphNode_t set_a, set_b, add_b, both, host;
  EXPECT_OK(cudaGraphAddMemsetNode(&set_a, graph, nullptr, 0, &fill));
  std::vector<int> source(kCount, 5);
  EXPECT_OK(cudaGraphAddMemcpyNode1D(&set_b, graph, nullptr, 0, d.b, source.data(), kCount * 4,
                                     cudaMemcpyHostToDevice));
  int one = 1;
  void* add_arguments[] = {&d.b, &one};
  cudaKernelNodeParams kernel{(void*)add, dim3(4), dim3(64), 0, add_arguments, nullptr};
  EXPECT_OK(cudaGraphAddKernelNode(&add_b, graph, &set_b, 1, &kernel));
  void* sum_arguments[] = {&d.a, &d.b, &d.c};
  cudaKernelNodeParams last{(void*)sum, dim3(4), dim3(64), 0, sum_arguments, nullptr};
  EXPECT_OK(cudaGraphAddKernelNode(&both, graph, nullptr, 0, &last));
  cudaGraphNode_t from[] = {set_a, add_b}, to[] = {both, both};
  EXPECT_OK(cudaGraphAddDependencies(graph, from, to, nullptr, 2));
  int calls = 0;
  cudaHostNodeParams function{count_calls, &calls};
  EXPECT_OK(cudaGraphAddHostNode(&host, graph, &both, 1, &function));
  size_t nodes = 0, edges = 0, roots = 0;
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT(nodes == 5 && edges == 4 && roots == 2);
  cudaGraphNodeType type;
  EXPECT_OK(cudaGraphNodeGetType(host, &type));
  EXPECT(type == cudaGraphNodeTypeHost);

  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  source.assign(kCount, 7);  // read when the graph is launched
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(calls == 2);
  EXPECT(d.at(d.c, 200) == 0x01020304 + 7 + 1);

  int ten = 10;
  add_arguments[1] = &ten;
  EXPECT_OK(cudaGraphExecKernelNodeSetParams(exec, add_b, &kernel));
  EXPECT_OK(cudaGraphNodeSetEnabled(exec, set_a, 0));
  EXPECT_OK(cudaMemset(d.a, 0, kCount * 4));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(d.at(d.c, 3) == 17);

  // The graph itself has the old ones, as has a copy of it.
  cudaGraph_t copy;
  cudaGraphNode_t in_copy;
  EXPECT_OK(cudaGraphClone(&copy, graph));
  EXPECT_OK(cudaGraphNodeFindInClone(&in_copy, add_b, copy));
  cudaKernelNodeParams read;
  EXPECT_OK(cudaGraphKernelNodeGetParams(in_copy, &read));
  EXPECT(*static_cast<int*>(read.kernelParams[1]) == 1 && read.gridDim.x == 4);

  EXPECT_CODE(cudaGraphAddDependencies(graph, &both, &set_a, nullptr, 1), cudaSuccess);
  cudaGraphExec_t circle;
  EXPECT_CODE(cudaGraphInstantiate(&circle, graph, 0), cudaErrorInvalidValue);
  EXPECT_CODE(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(copy));
  EXPECT_OK(cudaStreamDestroy(stream));
}

cudaGraph_t capture(cudaStream_t one, cudaStream_t two, Data& d, int value, bool is_longer) {
  cudaEvent_t fork, join;
  EXPECT_OK(cudaEventCreate(&fork));
  EXPECT_OK(cudaEventCreate(&join));
  EXPECT_OK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaMemsetAsync(d.a, 0, kCount * 4, one));
  EXPECT_OK(cudaEventRecord(fork, one));
  EXPECT_OK(cudaStreamWaitEvent(two, fork, 0));
  EXPECT_OK(cudaMemsetAsync(d.b, 0, kCount * 4, two));
  add<<<4, 64, 0, two>>>(d.b, value);
  EXPECT_OK(cudaGetLastError());
  add<<<4, 64, 0, one>>>(d.a, 2);
  EXPECT_OK(cudaEventRecord(join, two));
  EXPECT_OK(cudaStreamWaitEvent(one, join, 0));
  sum<<<4, 64, 0, one>>>(d.a, d.b, d.c);
  if (is_longer) sum<<<4, 64, 0, one>>>(d.a, d.b, d.c);
  cudaStreamCaptureStatus status;
  EXPECT_OK(cudaStreamIsCapturing(two, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  cudaGraph_t graph;
  EXPECT_OK(cudaStreamEndCapture(one, &graph));
  EXPECT_OK(cudaEventDestroy(fork));
  EXPECT_OK(cudaEventDestroy(join));
  return graph;
}

void captured() {
  Data d;
  cudaStream_t one, two;
  EXPECT_OK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  EXPECT_OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  EXPECT_OK(cudaMemset(d.c, 0, kCount * 4));
  EXPECT_OK(cudaDeviceSynchronize());
  cudaGraph_t graph = capture(one, two, d, 40, false);
  EXPECT(d.at(d.c, 0) == 0);  // nothing has been done
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  EXPECT_OK(cudaGraphLaunch(exec, one));
  EXPECT_OK(cudaStreamSynchronize(one));
  EXPECT(d.at(d.c, 255) == 42);

  cudaGraph_t changed = capture(one, two, d, 50, false), longer = capture(one, two, d, 1, true);
  cudaGraphExecUpdateResultInfo info;
  EXPECT_OK(cudaGraphExecUpdate(exec, changed, &info));
  EXPECT_OK(cudaGraphLaunch(exec, one));
  EXPECT_OK(cudaStreamSynchronize(one));
  EXPECT(d.at(d.c, 9) == 52);
  EXPECT_CODE(cudaGraphExecUpdate(exec, longer, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);

  // As a node of another graph, and captured.
  cudaGraph_t outer;
  cudaGraphNode_t child;
  EXPECT_OK(cudaGraphCreate(&outer, 0));
  EXPECT_OK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  cudaGraphExec_t outer_exec;
  EXPECT_OK(cudaGraphInstantiate(&outer_exec, outer, 0));
  EXPECT_OK(cudaGraphLaunch(outer_exec, one));
  EXPECT_OK(cudaStreamSynchronize(one));
  EXPECT(d.at(d.c, 9) == 42);
  for (cudaGraph_t g : {graph, changed, longer, outer}) EXPECT_OK(cudaGraphDestroy(g));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphExecDestroy(outer_exec));
}

// Memory of a graph, a symbol, an event.
void of_all_kinds() {
  Data d;
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  int* own;
  int ones[32], set = 8;
  for (int& i : ones) i = 1;
  EXPECT_OK(cudaMallocAsync(&own, sizeof ones, stream));
  EXPECT_OK(cudaMemcpyAsync(own, ones, sizeof ones, cudaMemcpyHostToDevice, stream));
  EXPECT_OK(cudaMemcpyToSymbolAsync(offset, &set, 4, 0, cudaMemcpyHostToDevice, stream));
  add_offset<<<1, 32, 0, stream>>>(own);
  EXPECT_OK(cudaMemcpyAsync(d.a, own, sizeof ones, cudaMemcpyDeviceToDevice, stream));
  EXPECT_OK(cudaFreeAsync(own, stream));
  int calls = 0;
  EXPECT_OK(cudaLaunchHostFunc(stream, count_calls, &calls));
  cudaGraph_t graph;
  EXPECT_OK(cudaStreamEndCapture(stream, &graph));
  EXPECT(calls == 0);
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cudaGraphLaunch(exec, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(calls == 1);
  int back[32];
  EXPECT_OK(cudaMemcpy(back, d.a, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT(back[31] == 9);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

void forbidden() {
  cudaStream_t stream, other;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamCreate(&other));
  cudaGraph_t graph;
  int* p;
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_CODE(cudaMalloc(&p, 4), cudaErrorStreamCaptureUnsupported);
  EXPECT_CODE(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_CODE(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_CODE(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_OK(cudaMalloc(&p, 1024));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  add<<<1, 32>>>(p, 1);
  EXPECT_CODE(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  EXPECT_CODE(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  // A branch that is not joined.
  cudaEvent_t fork;
  EXPECT_OK(cudaEventCreate(&fork));
  EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaEventRecord(fork, stream));
  EXPECT_OK(cudaStreamWaitEvent(other, fork, 0));
  EXPECT_OK(cudaMemsetAsync(p, 0, 4, other));
  EXPECT_CODE(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_CODE(cudaStreamEndCapture(stream, &graph), cudaErrorInvalidValue);
  EXPECT_CODE(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
              cudaErrorStreamCaptureUnsupported);
  EXPECT_OK(cudaFree(p));
}

// One graph allocates; what it leaves is freed by a stream, by another graph, by the host.
void memory_of_another() {
  cudaGraph_t taking, freeing;
  cudaGraphNode_t node, after;
  EXPECT_OK(cudaGraphCreate(&taking, 0));
  cudaMemAllocNodeParams wanted{};
  wanted.bytesize = kCount * 4;
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  EXPECT_OK(cudaGraphAddMemAllocNode(&node, taking, nullptr, 0, &wanted));
  cudaMemsetParams fill{wanted.dptr, 0, 7, 1, kCount * 4, 1};
  EXPECT_OK(cudaGraphAddMemsetNode(&after, taking, &node, 1, &fill));
  cudaGraphExec_t take, free;
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaGraphInstantiate(&take, taking, 0));
  auto used = [] {
    size_t bytes = 0;
    EXPECT_OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    return bytes;
  };
  const size_t before = used();
  EXPECT_OK(cudaGraphLaunch(take, stream));
  EXPECT_OK(cudaFreeAsync(wanted.dptr, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(used() == before);
  // Nothing is allocated there at the moment, but the graph owns it.
  EXPECT_OK(cudaGraphCreate(&freeing, 0));
  EXPECT_OK(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, wanted.dptr));
  EXPECT_OK(cudaGraphInstantiate(&free, freeing, 0));
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(cudaGraphLaunch(take, stream));
    EXPECT_OK(cudaGraphLaunch(free, stream));
  }
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(used() == before);
  EXPECT_OK(cudaGraphLaunch(take, stream));
  EXPECT_OK(cudaFree(wanted.dptr));
  EXPECT(used() == before);
  EXPECT_CODE(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, &node), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_OK(cudaGraphExecDestroy(take));
  EXPECT_OK(cudaGraphExecDestroy(free));
  EXPECT_OK(cudaGraphDestroy(taking));
  EXPECT_OK(cudaGraphDestroy(freeing));
  EXPECT_OK(cudaStreamDestroy(stream));
}

// Two nodes that write the same memory, with no edge between them.
void without_edge(bool has_edge) {
  Data d;
  cudaGraph_t graph;
  cudaGraphNode_t first, second;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill{d.a, 0, 0, 1, kCount * 4, 1};
  EXPECT_OK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &fill));
  int one = 1;
  void* arguments[] = {&d.a, &one};
  cudaKernelNodeParams kernel{(void*)add, dim3(4), dim3(64), 0, arguments, nullptr};
  EXPECT_OK(cudaGraphAddKernelNode(&second, graph, &first, has_edge ? 1 : 0, &kernel));
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cudaGraphLaunch(exec, nullptr));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "all";
  if (!std::strcmp(which, "edge") || !std::strcmp(which, "no-edge")) {
    without_edge(!std::strcmp(which, "edge"));
    return finish();
  }
  by_hand();
  captured();
  of_all_kinds();
  memory_of_another();
  forbidden();
  return finish();
}
