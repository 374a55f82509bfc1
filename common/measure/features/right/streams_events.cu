// Three streams, ordered by events: produce in one, change in the second, add in the third; and a
// callback of the host.
#include <numeric>

#include "../feature.h"

__global__ void fill(int* a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = i;
}

__global__ void square(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] * a[i] % 1000;
}

__global__ void add(const int* a, const int* b, int* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 10000;
  int *a, *b, *c, *host;
  OK(cudaMalloc(&a, n * 4));
  OK(cudaMalloc(&b, n * 4));
  OK(cudaMalloc(&c, n * 4));
  OK(cudaMallocHost(&host, n * 4));
  cudaStream_t s[3];
  cudaEvent_t filled, squared, begin, end;
  OK(cudaStreamCreate(&s[0]));
  OK(cudaStreamCreateWithFlags(&s[1], cudaStreamNonBlocking));
  OK(cudaStreamCreateWithPriority(&s[2], cudaStreamNonBlocking, 0));
  OK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&squared, cudaEventDisableTiming));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  static int called = 0;
  OK(cudaEventRecord(begin, s[0]));
  for (int round = 0; round < 3; ++round) {
    fill<<<8, 128, 0, s[0]>>>(a, n);
    OK(cudaEventRecord(filled, s[0]));
    OK(cudaStreamWaitEvent(s[1], filled, 0));
    OK(cudaStreamWaitEvent(s[2], filled, 0));
    square<<<(n + 127) / 128, 128, 0, s[1]>>>(a, b, n);
    OK(cudaEventRecord(squared, s[1]));
    OK(cudaStreamWaitEvent(s[2], squared, 0));
    add<<<(n + 127) / 128, 128, 0, s[2]>>>(a, b, c, n);
    OK(cudaMemcpyAsync(host, c, n * 4, cudaMemcpyDeviceToHost, s[2]));
    OK(cudaLaunchHostFunc(
        s[2], [](void* p) { ++*static_cast<int*>(p); }, &called));
    OK(cudaEventRecord(squared, s[2]));
    OK(cudaStreamWaitEvent(s[0], squared, 0));
  }
  OK(cudaEventRecord(end, s[0]));
  OK(cudaEventSynchronize(end));
  float ms;
  OK(cudaEventElapsedTime(&ms, begin, end));
  bool right = ms >= 0;
  for (int i = 0; i < n; ++i) right = right && host[i] == i + i * i % 1000;
  expect("chain of events", right);
  expect("host function", called == 3);
  expect("query", cudaStreamQuery(s[2]) == cudaSuccess && cudaEventQuery(end) == cudaSuccess);
  bits("c", host, n * 4);
  for (auto x : s) OK(cudaStreamDestroy(x));
  for (auto x : {filled, squared, begin, end}) OK(cudaEventDestroy(x));
  OK(cudaFree(a));
  OK(cudaFree(b));
  OK(cudaFree(c));
  OK(cudaFreeHost(host));
  return finish();
}
