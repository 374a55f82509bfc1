// Nodes of graphs, one kind after the other: made, asked for, changed in the graph and in what is instantiated of it.

#include <cstdio>
#include <cstring>
#include <vector>

#include "expect.h"

constexpr int n = 64, bytes = n * sizeof(int);

__device__ int table[n];

__global__ void add(int* p, int value) {
  p[threadIdx.x] += value;
}

cudaStream_t g_stream;

// Launches it, and gives element `i` of `d` after that.
int run(cudaGraphExec_t exec, const int* d, int i = 5) {
  int out[n];
  EXPECT_OK(cudaGraphLaunch(exec, g_stream));
  EXPECT_OK(cudaStreamSynchronize(g_stream));
  EXPECT_OK(cudaMemcpy(out, d, bytes, cudaMemcpyDeviceToHost));
  return out[i];
}

int run_anew(cudaGraph_t graph, const int* d) {
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  const int value = run(exec, d);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  return value;
}

cudaMemcpy3DParms copy_in(int* d, const int* source) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<int*>(source), bytes, bytes, 1);
  copy.dstPtr = make_cudaPitchedPtr(d, bytes, bytes, 1);
  copy.extent = make_cudaExtent(bytes, 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  return copy;
}

void copies(int* d) {
  std::vector<int> three(n, 3), four(n, 4), five(n, 5), seven(n, 7);
  cudaGraph_t graph;
  cudaGraphNode_t copy;
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaMemcpy3DParms params = copy_in(d, three.data()), read = {};
  EXPECT_OK(cudaGraphAddMemcpyNode(&copy, graph, nullptr, 0, &params));
  EXPECT_OK(cudaGraphMemcpyNodeGetParams(copy, &read));
  EXPECT(read.dstPtr.ptr == d && read.srcPtr.ptr == three.data() && read.extent.width == bytes);
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(run(exec, d) == 3);
  params = copy_in(d, four.data());
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParams(exec, copy, &params));
  EXPECT(run(exec, d) == 4);
  EXPECT(run_anew(graph, d) == 3);  // the graph itself keeps what it had
  EXPECT_OK(cudaGraphMemcpyNodeSetParams(copy, &params));
  EXPECT(run_anew(graph, d) == 4);
  EXPECT_OK(cudaGraphMemcpyNodeSetParams1D(copy, d, five.data(), bytes, cudaMemcpyHostToDevice));
  EXPECT(run_anew(graph, d) == 5);
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, d, seven.data(), bytes, cudaMemcpyHostToDevice));
  EXPECT(run(exec, d) == 7);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

void symbols(int* d) {
  std::vector<int> one(n, 1), two(n, 2);
  cudaGraph_t graph;
  cudaGraphNode_t in, out;
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, table, one.data(), bytes, 0, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, d, table, bytes, 0, cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(run(exec, d) == 1);
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, table, two.data(), bytes, 0, cudaMemcpyHostToDevice));
  EXPECT(run(exec, d) == 2);
  // Only the upper half: the lower one of d stays.
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, table, one.data(), bytes, 0, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, out, d + n / 2, table, bytes / 2, bytes / 2, cudaMemcpyDeviceToDevice));
  EXPECT(run(exec, d, 0) == 2);
  EXPECT(run(exec, d, n - 1) == 1);
  EXPECT_OK(cudaGraphMemcpyNodeSetParamsToSymbol(in, table, two.data(), bytes, 0, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaGraphMemcpyNodeSetParamsFromSymbol(out, d, table, bytes, 0, cudaMemcpyDeviceToDevice));
  EXPECT(run_anew(graph, d) == 2);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

void count_calls(void* data) {
  ++*static_cast<int*>(data);
}

void fills_kernels_and_functions(int* d) {
  cudaGraph_t graph;
  cudaGraphNode_t fill, kernel, function;
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams zero = {d, 0, 0, 4, n, 1}, read = {};
  EXPECT_OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  EXPECT_OK(cudaGraphMemsetNodeGetParams(fill, &read));
  EXPECT(read.dst == d && read.elementSize == 4 && read.width == n);
  int value = 10, calls = 0, others = 0;
  void* arguments[] = {&d, &value};
  cudaKernelNodeParams launch = {(void*)add, dim3(1), dim3(n), 0, arguments, nullptr};
  EXPECT_OK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  cudaHostNodeParams host = {count_calls, &calls}, read_host = {};
  EXPECT_OK(cudaGraphAddHostNode(&function, graph, &kernel, 1, &host));
  EXPECT_OK(cudaGraphHostNodeGetParams(function, &read_host));
  EXPECT(read_host.fn == count_calls && read_host.userData == &calls);
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  unsigned is_enabled = 0;
  EXPECT_OK(cudaGraphNodeGetEnabled(exec, kernel, &is_enabled));
  EXPECT(is_enabled == 1);
  EXPECT(run(exec, d) == 10 && calls == 1);

  cudaMemsetParams hundred = {d, 0, 100, 4, n, 1};
  EXPECT_OK(cudaGraphExecMemsetNodeSetParams(exec, fill, &hundred));
  cudaHostNodeParams other = {count_calls, &others};
  EXPECT_OK(cudaGraphExecHostNodeSetParams(exec, function, &other));
  EXPECT(run(exec, d) == 110 && calls == 1 && others == 1);
  EXPECT_OK(cudaGraphMemsetNodeSetParams(fill, &hundred));
  EXPECT_OK(cudaGraphHostNodeSetParams(function, &other));
  value = 20;
  EXPECT_OK(cudaGraphKernelNodeSetParams(kernel, &launch));
  EXPECT(run_anew(graph, d) == 120 && calls == 1 && others == 2);

  // The same by the structure that all kinds of nodes share.
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = (void*)add;
  any.kernel.gridDim = dim3(1);
  any.kernel.blockDim = dim3(n);
  any.kernel.kernelParams = arguments;
  value = 30;
  EXPECT_OK(cudaGraphExecNodeSetParams(exec, kernel, &any));
  EXPECT(run(exec, d) == 130);
  EXPECT_OK(cudaGraphNodeSetParams(kernel, &any));
  EXPECT(run_anew(graph, d) == 130);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

void edges(int* d) {
  cudaGraph_t graph;
  cudaGraphNode_t first, second, empty, found[4];
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams one = {d, 0, 1, 4, n, 1}, two = {d, 0, 2, 4, n, 1};
  EXPECT_OK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &one));
  EXPECT_OK(cudaGraphAddEmptyNode(&empty, graph, &first, 1));
  EXPECT_OK(cudaGraphAddMemsetNode(&second, graph, &empty, 1, &two));
  size_t count = 4;
  EXPECT_OK(cudaGraphNodeGetDependencies(second, found, nullptr, &count));
  EXPECT(count == 1 && found[0] == empty);
  count = 0;
  EXPECT_OK(cudaGraphNodeGetDependencies(first, nullptr, nullptr, &count));
  EXPECT(count == 0);
  count = 4;
  EXPECT_OK(cudaGraphNodeGetDependentNodes(first, found, nullptr, &count));
  EXPECT(count == 1 && found[0] == empty);
  EXPECT(run_anew(graph, d) == 2);
  // The other way round.
  EXPECT_OK(cudaGraphRemoveDependencies(graph, &first, &empty, nullptr, 1));
  EXPECT_CODE(cudaGraphRemoveDependencies(graph, &first, &empty, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphDestroyNode(empty));
  EXPECT_OK(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1));
  EXPECT(run_anew(graph, d) == 1);
  EXPECT_OK(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  EXPECT_OK(cudaGraphDestroy(graph));
}

void children(int* d) {
  cudaGraph_t graph, child, other, read;
  cudaGraphNode_t node, fill;
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphCreate(&child, 0));
  cudaMemsetParams nine = {d, 0, 9, 4, n, 1}, eight = {d, 0, 8, 4, n, 1};
  EXPECT_OK(cudaGraphAddMemsetNode(&fill, child, nullptr, 0, &nine));
  EXPECT_OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  EXPECT_OK(cudaGraphChildGraphNodeGetGraph(node, &read));
  size_t count = 0;
  EXPECT_OK(cudaGraphGetNodes(read, nullptr, &count));
  EXPECT(count == 1 && read != child);
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(run(exec, d) == 9);
  EXPECT_OK(cudaGraphClone(&other, child));
  EXPECT_OK(cudaGraphNodeFindInClone(&fill, fill, other));
  EXPECT_OK(cudaGraphMemsetNodeSetParams(fill, &eight));
  EXPECT_OK(cudaGraphExecChildGraphNodeSetParams(exec, node, other));
  EXPECT(run(exec, d) == 8);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(other));
  EXPECT_OK(cudaGraphDestroy(child));
  EXPECT_OK(cudaGraphDestroy(graph));
}

void events() {
  cudaEvent_t a, b, read = nullptr;
  cudaGraph_t graph;
  cudaGraphNode_t record, wait;
  cudaGraphExec_t exec;
  EXPECT_OK(cudaEventCreate(&a));
  EXPECT_OK(cudaEventCreate(&b));
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, a));
  EXPECT_OK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, b));
  EXPECT_OK(cudaGraphEventRecordNodeGetEvent(record, &read));
  EXPECT(read == a);
  EXPECT_OK(cudaGraphEventWaitNodeGetEvent(wait, &read));
  EXPECT(read == b);
  EXPECT_CODE(cudaGraphEventWaitNodeGetEvent(record, &read), cudaErrorInvalidValue);
  EXPECT_OK(cudaGraphEventRecordNodeSetEvent(record, b));
  EXPECT_OK(cudaGraphEventWaitNodeSetEvent(wait, a));
  EXPECT_OK(cudaGraphEventRecordNodeGetEvent(record, &read));
  EXPECT(read == b);
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_OK(cudaGraphExecEventRecordNodeSetEvent(exec, record, a));
  EXPECT_OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, b));
  EXPECT_OK(cudaGraphUpload(exec, g_stream));
  EXPECT_OK(cudaGraphLaunch(exec, g_stream));
  EXPECT_OK(cudaEventSynchronize(a));
  EXPECT_OK(cudaStreamSynchronize(g_stream));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaEventDestroy(a));
  EXPECT_OK(cudaEventDestroy(b));
}

void allocations() {
  cudaGraph_t graph;
  cudaGraphNode_t take, fill, give;
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams wanted = {}, read = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location = {cudaMemLocationTypeDevice, 0};
  wanted.bytesize = bytes;
  EXPECT_OK(cudaGraphAddMemAllocNode(&take, graph, nullptr, 0, &wanted));
  EXPECT_OK(cudaGraphMemAllocNodeGetParams(take, &read));
  EXPECT(read.dptr == wanted.dptr && read.bytesize == bytes);
  cudaMemsetParams params = {wanted.dptr, 0, 1, 4, n, 1};
  EXPECT_OK(cudaGraphAddMemsetNode(&fill, graph, &take, 1, &params));
  EXPECT_OK(cudaGraphAddMemFreeNode(&give, graph, &fill, 1, wanted.dptr));
  void* freed = nullptr;
  EXPECT_OK(cudaGraphMemFreeNodeGetParams(give, &freed));
  EXPECT(freed == wanted.dptr);
  cudaGraphInstantiateParams how = {};
  how.flags = cudaGraphInstantiateFlagAutoFreeOnLaunch;
  EXPECT_OK(cudaGraphInstantiateWithParams(&exec, graph, &how));
  EXPECT(how.result_out == cudaGraphInstantiateSuccess);
  unsigned long long flags = 0;
  EXPECT_OK(cudaGraphExecGetFlags(exec, &flags));
  EXPECT(flags == cudaGraphInstantiateFlagAutoFreeOnLaunch);
  EXPECT_OK(cudaGraphLaunch(exec, g_stream));
  EXPECT_OK(cudaStreamSynchronize(g_stream));
  unsigned long long high = 0;
  EXPECT_OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
  EXPECT_OK(cudaDeviceGraphMemTrim(0));
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// An object of the program's that lives as long as somebody holds it: its last holder ends it.
void user_objects() {
  int ended = 0;
  cudaUserObject_t object;
  cudaGraph_t graph;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaUserObjectCreate(&object, &ended, count_calls, 1, cudaUserObjectNoDestructorSync));
  EXPECT_OK(cudaUserObjectRetain(object, 1));
  EXPECT_OK(cudaGraphRetainUserObject(graph, object, 1, 0));
  EXPECT_OK(cudaUserObjectRelease(object, 2));
  EXPECT(ended == 0);
  EXPECT_OK(cudaGraphRetainUserObject(graph, object, 1, 0));
  EXPECT_OK(cudaGraphReleaseUserObject(graph, object, 1));
  EXPECT(ended == 0);
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(ended == 1);
}

void captured(int* d) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeGlobal);
  EXPECT_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeRelaxed);
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t into = nullptr, graph = nullptr;
  const cudaGraphNode_t* last = nullptr;
  size_t count = 0;
  EXPECT_OK(cudaStreamGetCaptureInfo(g_stream, &status, &id, &into, &last, nullptr, &count));
  EXPECT(status == cudaStreamCaptureStatusNone);
  EXPECT_OK(cudaStreamBeginCapture(g_stream, cudaStreamCaptureModeGlobal));
  EXPECT_OK(cudaMemsetAsync(d, 0, bytes, g_stream));
  EXPECT_OK(cudaStreamGetCaptureInfo(g_stream, &status, &id, &into, &last, nullptr, &count));
  EXPECT(status == cudaStreamCaptureStatusActive && into != nullptr && count == 1);
  // A node by hand in the middle of what is captured.
  cudaGraphNode_t by_hand, before = last[0];
  cudaMemsetParams six = {d, 0, 6, 4, n, 1};
  EXPECT_OK(cudaGraphAddMemsetNode(&by_hand, into, &before, 1, &six));
  EXPECT_OK(cudaStreamUpdateCaptureDependencies(g_stream, &by_hand, nullptr, 1, cudaStreamSetCaptureDependencies));
  add<<<1, n, 0, g_stream>>>(d, 1);
  EXPECT_OK(cudaStreamEndCapture(g_stream, &graph));
  EXPECT(graph == into);
  EXPECT(run_anew(graph, d) == 7);
  EXPECT_OK(cudaGraphDestroy(graph));
}

int main() {
  int* d;
  EXPECT_OK(cudaMalloc(&d, bytes));
  EXPECT_OK(cudaStreamCreate(&g_stream));
  copies(d);
  symbols(d);
  fills_kernels_and_functions(d);
  edges(d);
  children(d);
  events();
  allocations();
  user_objects();
  captured(d);
  EXPECT_OK(cudaStreamDestroy(g_stream));
  EXPECT_OK(cudaFree(d));
  return finish();
}
