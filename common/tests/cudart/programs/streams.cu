// Ordered streams, and others: the argument says what is left out, or what is there for the wait.

#include <atomic>
#include <cstring>

#include "expect.h"

__global__ void fill(float* a, int n, float value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = value;
}

__global__ void twice(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = 2 * a[i];
}

std::atomic<bool> said{false};

int main(int, char** arguments) {
  const char* without = arguments[1];
  auto has = [&](const char* what) { return std::strcmp(without, what) != 0; };
  constexpr int n = 1000;
  float *a, *b, *host;
  cudaStream_t first, second;
  cudaEvent_t filled;
  cudaMalloc(&a, sizeof(float) * n);
  cudaMalloc(&b, sizeof(float) * n);
  cudaMallocHost(&host, sizeof(float) * n);
  cudaStreamCreate(&first);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreate(&filled);
  fill<<<4, 256, 0, first>>>(a, n, 1.0f);
  cudaEventRecord(filled, first);
  if (has("event")) cudaStreamWaitEvent(second, filled, 0);
  twice<<<4, 256, 0, second>>>(a, b, n);
  if (!has("query")) {
    cudaStreamQuery(second);  // and does not listen
  } else if (!has("poll")) {
    while (cudaStreamQuery(second) == cudaErrorNotReady) {
    }
    if (cudaStreamQuery(second) != cudaSuccess) return 2;
  } else if (!has("callback") || !has("said")) {
    cudaLaunchHostFunc(second, [](void*) { said = true; }, nullptr);
    while (!has("said") && !said) {
    }
  } else if (has("wait")) {
    cudaStreamSynchronize(second);
  }
  cudaMemcpyAsync(host, b, sizeof(float) * n, cudaMemcpyDeviceToHost, first);
  cudaStreamSynchronize(first);
  // Halves of one buffer in two streams are no fault.
  fill<<<2, 256, 0, first>>>(a, n / 2, 3.0f);
  fill<<<2, 256, 0, second>>>(a + n / 2, n / 2, 4.0f);
  cudaDeviceSynchronize();
  cudaMemset(a, 0, sizeof(float) * n);
  if (has("memset")) cudaDeviceSynchronize();
  twice<<<4, 256, 0, second>>>(a, b, n);
  cudaDeviceSynchronize();
  return host[n - 1] == 2.0f ? 0 : 1;
}
