// A graph by capture with a fork, one by hand with memory of its own, updated parameters, a host
// node, a child graph.
#include "../feature.h"

__global__ void scale(float* a, float f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= f;
}

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  int n = 1000;
  auto v = random_floats(n);
  float *a = to_device(v), *b = to_device(v), *c = to_device(v);
  cudaStream_t s, side;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&side));
  cudaEvent_t fork, join;
  OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(side, fork, 0));
  scale<<<4, 256, 0, s>>>(a, 2, n);
  scale<<<4, 256, 0, side>>>(b, 3, n);
  OK(cudaEventRecord(join, side));
  OK(cudaStreamWaitEvent(s, join, 0));
  add<<<4, 256, 0, s>>>(a, b, c, n);
  cudaGraph_t g;
  OK(cudaStreamEndCapture(s, &g));
  size_t nodes;
  OK(cudaGraphGetNodes(g, nullptr, &nodes));
  expect("nodes", nodes == 3);
  cudaGraphExec_t e;
  OK(cudaGraphInstantiate(&e, g, 0));
  for (int r = 0; r < 3; ++r) OK(cudaGraphLaunch(e, s));
  OK(cudaStreamSynchronize(s));
  auto o = from_device(c, n);
  bool right = true;
  for (int i = 0; i < n; ++i) right &= o[i] == v[i] * 8 + v[i] * 27;
  expect("captured", right);
  bits("captured", o);

  cudaGraph_t h;
  OK(cudaGraphCreate(&h, 0));
  std::vector<float> back(n);
  cudaGraphNode_t up, twice, down, told, alloc, release;
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = n * 4;
  OK(cudaGraphAddMemAllocNode(&alloc, h, nullptr, 0, &memory));
  float* m = static_cast<float*>(memory.dptr);
  OK(cudaGraphAddMemcpyNode1D(&up, h, &alloc, 1, m, v.data(), n * 4, cudaMemcpyHostToDevice));
  float factor = 5;
  void* args[] = {&m, &factor, &n};
  cudaKernelNodeParams k = {};
  k.func = (void*)scale, k.gridDim = 4, k.blockDim = 256, k.kernelParams = args;
  OK(cudaGraphAddKernelNode(&twice, h, &up, 1, &k));
  OK(cudaGraphAddMemcpyNode1D(&down, h, &twice, 1, back.data(), m, n * 4, cudaMemcpyDeviceToHost));
  OK(cudaGraphAddMemFreeNode(&release, h, &down, 1, m));
  static int told_times = 0;
  cudaHostNodeParams host = {};
  host.fn = [](void* p) { ++*static_cast<int*>(p); }, host.userData = &told_times;
  OK(cudaGraphAddHostNode(&told, h, &down, 1, &host));
  cudaGraphExec_t he;
  OK(cudaGraphInstantiate(&he, h, 0));
  OK(cudaGraphLaunch(he, s));
  OK(cudaStreamSynchronize(s));
  right = true;
  for (int i = 0; i < n; ++i) right &= back[i] == v[i] * 5;
  factor = 7;
  OK(cudaGraphExecKernelNodeSetParams(he, twice, &k));
  OK(cudaGraphLaunch(he, s));
  OK(cudaStreamSynchronize(s));
  for (int i = 0; i < n; ++i) right &= back[i] == v[i] * 7;
  expect("by hand", right && told_times == 2);
  cudaGraph_t parent;
  OK(cudaGraphCreate(&parent, 0));
  cudaGraphNode_t inner, after;
  OK(cudaGraphAddChildGraphNode(&inner, parent, nullptr, 0, g));
  cudaMemsetParams zero = {};
  zero.dst = c, zero.elementSize = 4, zero.width = 10, zero.height = 1, zero.value = 0x40000000u;
  OK(cudaGraphAddMemsetNode(&after, parent, &inner, 1, &zero));
  cudaGraphExec_t pe;
  OK(cudaGraphInstantiate(&pe, parent, 0));
  OK(cudaGraphLaunch(pe, s));
  OK(cudaStreamSynchronize(s));
  o = from_device(c, n);
  right = true;
  for (int i = 0; i < n; ++i) right &= o[i] == (i < 10 ? 2.0f : v[i] * 16 + v[i] * 81);
  expect("child graph", right);
  for (auto x : {e, he, pe}) OK(cudaGraphExecDestroy(x));
  for (auto x : {g, h, parent}) OK(cudaGraphDestroy(x));
  OK(cudaEventDestroy(fork));
  OK(cudaEventDestroy(join));
  OK(cudaStreamDestroy(s));
  OK(cudaStreamDestroy(side));
  for (float* p : {a, b, c}) OK(cudaFree(p));
  return finish();
}
