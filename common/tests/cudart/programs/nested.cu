// Kernels that launch kernels, and graphs whose course kernels decide; compiled with -rdc=true.

#include <cstring>

#include "expect.h"

__global__ void add(int* out, char, long long value, int at) {
  atomicAdd(out + at, static_cast<int>(value));
}

// Halves until one element is left: of `from` elements each gets 1, once.
__global__ void halve(int* out, int from, int count) {
  if (count == 1) {
    out[from] += 1;
    return;
  }
  halve<<<1, 1>>>(out, from, count / 2);
  halve<<<1, 1>>>(out, from + count / 2, count - count / 2);
}

// Each lane launches with arguments of its own.
__global__ void many(int* out) {
  add<<<2, 32>>>(out, 'x', 1000 * threadIdx.x, threadIdx.x);
}

// The last launch begins when all others have ended, and what they have launched.
__global__ void last_of_all(int* out, int count) {
  if (out[threadIdx.x] != 1) atomicAdd(out + count, 1);
  if (threadIdx.x == 0) atomicAdd(out + count, 1000);
}
__global__ void in_order(int* out, int count) {
  last_of_all<<<1, count, 0, cudaStreamTailLaunch>>>(out, count);
  cudaStream_t own;
  if (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess) return;
  halve<<<1, 1, 0, own>>>(out, 0, count);
  cudaStreamDestroy(own);
}

template <typename T>
__global__ void deeper(T* deepest, T depth) {
  *deepest = depth;
  deeper<<<1, 1>>>(deepest, depth + 1);
}

// Memory of the heap, handed from one launch to the next.
__global__ void use_and_free(int* out, int* own) {
  out[threadIdx.x] = own[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) cudaFree(own);
}
__global__ void take(int* out, int count) {
  int* own;
  if (cudaMalloc(&own, count * sizeof(int)) != cudaSuccess) return;
  for (int i = 0; i < count; ++i) own[i] = 3 * i;
  use_and_free<<<1, count>>>(out, own);
  int* none;
  if (cudaMalloc(&none, size_t(1) << 40) == cudaSuccess) out[0] = 1;
}

__global__ void outside(int* out) {
  out[threadIdx.x + 32] = 1;
}
__global__ void outside_from_kernel(int* out) {
  outside<<<1, 32>>>(out);
}
__global__ void too_large(int* out) {
  add<<<1, 2000>>>(out, 'x', 1, 0);
}

// Graphs that go on as kernels say.
__global__ void count_down(int* left, int* turns, cudaGraphConditionalHandle handle) {
  *turns += 1;
  cudaGraphSetConditional(handle, --*left > 0);
}
__global__ void set(int* to, int value) {
  *to = value;
}
__global__ void choose(cudaGraphConditionalHandle handle, unsigned value) {
  cudaGraphSetConditional(handle, value);
}

cudaGraphNodeParams conditional(cudaGraphConditionalHandle handle,
                                cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  return params;
}

template <typename Kernel, typename... T>
cudaGraphNode_t add_kernel(cudaGraph_t graph, Kernel* kernel, cudaGraphNode_t after, T... values) {
  void* arguments[] = {&values...};
  cudaKernelNodeParams params{(void*)kernel, dim3(1), dim3(1), 0, arguments, nullptr};
  cudaGraphNode_t node;
  EXPECT_OK(cudaGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &params));
  return node;
}

cudaGraphNode_t add_conditional(cudaGraph_t graph, cudaGraphNode_t after,
                                cudaGraphNodeParams* params) {
  cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
  EXPECT_OK(cudaGraphAddNode(&node, graph, &after, nullptr, after ? 1 : 0, params));
#else
  EXPECT_OK(cudaGraphAddNode(&node, graph, &after, after ? 1 : 0, params));
#endif
  return node;
}

void conditions(int* words) {
  int *left = words, *turns = words + 1, *which = words + 2;
  cudaGraph_t graph;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle again, no, third;
  EXPECT_OK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
  EXPECT_OK(cudaGraphConditionalHandleCreate(&no, graph, 0, cudaGraphCondAssignDefault));
  EXPECT_OK(cudaGraphConditionalHandleCreate(&third, graph, 0, 0));
  cudaGraphNodeParams loop = conditional(again, cudaGraphCondTypeWhile, 1);
  cudaGraphNode_t at = add_conditional(graph, nullptr, &loop);
  add_kernel(loop.conditional.phGraph_out[0], count_down, nullptr, left, turns, again);
  cudaGraphNodeParams either = conditional(no, cudaGraphCondTypeIf, 2);
  at = add_conditional(graph, at, &either);
  cudaStream_t stream;  // into a graph that there is already
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_OK(cudaStreamBeginCaptureToGraph(stream, either.conditional.phGraph_out[1], nullptr,
                                          nullptr, 0, cudaStreamCaptureModeGlobal));
  set<<<1, 1, 0, stream>>>(which + 3, 7);
  EXPECT_OK(cudaStreamEndCapture(stream, nullptr));
  EXPECT_OK(cudaStreamDestroy(stream));
  add_kernel(either.conditional.phGraph_out[0], set, nullptr, which, 1);
  add_kernel(either.conditional.phGraph_out[1], set, nullptr, which + 1, 2);
  at = add_kernel(graph, choose, at, third, 2u);
  cudaGraphNodeParams one_of = conditional(third, cudaGraphCondTypeSwitch, 3);
  add_conditional(graph, at, &one_of);
  for (int i = 0; i < 3; ++i)
    add_kernel(one_of.conditional.phGraph_out[i], set, nullptr, which + 2, 10 + i);
  cudaGraphExec_t exec;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int round = 1; round <= 2; ++round) {
    const int five = 5;
    EXPECT_OK(cudaMemcpy(left, &five, 4, cudaMemcpyHostToDevice));
    EXPECT_OK(cudaGraphLaunch(exec, nullptr));
    int back[6];
    EXPECT_OK(cudaMemcpy(back, words, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 0 && back[1] == 5 * round);
    EXPECT(back[2] == 0 && back[3] == 2 && back[4] == 12 && back[5] == 7);
  }
  cudaGraphConditionalHandle none = 0;
  cudaGraphNodeParams wrong = conditional(none, cudaGraphCondTypeIf, 1);
  cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
  EXPECT_CODE(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &wrong), cudaErrorInvalidValue);
#else
  EXPECT_CODE(cudaGraphAddNode(&node, graph, nullptr, 0, &wrong), cudaErrorInvalidValue);
#endif
  cudaGetLastError();
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  constexpr int kCount = 32;
  int* out;
  EXPECT_OK(cudaMalloc(&out, (kCount + (*which ? 0 : 1)) * 4));
  int back[kCount + 1];
  auto fetch = [&] {
    EXPECT_OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT_OK(cudaMemset(out, 0, sizeof back));
  };
  if (!std::strcmp(which, "outside")) {
    outside_from_kernel<<<1, 1>>>(out);
    EXPECT_CODE(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return finish();
  }
  EXPECT_OK(cudaMemset(out, 0, kCount * 4));
  if (!std::strcmp(which, "too-large")) {
    too_large<<<1, 1>>>(out);
    EXPECT_OK(cudaDeviceSynchronize());
    return finish();
  }
  EXPECT_OK(cudaMemset(out, 0, sizeof back));
  many<<<1, 32>>>(out);
  fetch();
  for (int i = 0; i < kCount; ++i) EXPECT(back[i] == 64000 * i);
  in_order<<<1, 1>>>(out, kCount);
  fetch();
  for (int i = 0; i < kCount; ++i) EXPECT(back[i] == 1);
  EXPECT(back[kCount] == 1000);
  deeper<<<1, 1>>>(out, 0);
  fetch();
  EXPECT(back[0] == 24);
  take<<<1, 1>>>(out, kCount);
  fetch();
  for (int i = 0; i < kCount; ++i) EXPECT(back[i] == 3 * i);
  conditions(out);
  EXPECT_OK(cudaFree(out));
  return finish();
}
