// A launch that may begin before the one before it has ended: the argument says what it does about
// that.

#include <cstring>

#include "expect.h"

constexpr int kWaits = 1, kReadsFirst = 2, kLastWarpWaits = 4;

__global__ void fill(float* a, int n, bool lets_next_begin) {
  if (lets_next_begin) cudaTriggerProgrammaticLaunchCompletion();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1;
}

__global__ void twice(const float* a, float* b, int n, int how) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float early = 0;
  if (how & kReadsFirst) early = a[i];
  if ((how & kWaits) || ((how & kLastWarpWaits) && threadIdx.x >= 224))
    cudaGridDependencySynchronize();
  if (i < n) b[i] = how & kReadsFirst ? 2 * early : 2 * a[i];
}

int main(int, char** arguments) {
  const char* way = arguments[1];
  auto is = [&](const char* what) { return std::strstr(way, what) != nullptr; };
  constexpr int n = 1024;
  float *a, *b, host[n];
  cudaMalloc(&a, sizeof(float) * n);
  cudaMalloc(&b, sizeof(float) * n);
  fill<<<4, 256>>>(a, n, is("lets"));
  cudaLaunchConfig_t config{};
  config.gridDim = 4;
  config.blockDim = 256;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = !is("not-early");
  config.attrs = &attribute;
  config.numAttrs = 1;
  const int how = (is("waits") ? kWaits : 0) | (is("reads-first") ? kReadsFirst : 0) |
                  (is("last-warp") ? kLastWarpWaits : 0);
  EXPECT_OK(cudaLaunchKernelEx(&config, twice, static_cast<const float*>(a), b, n, how));
  EXPECT_OK(cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[n - 1] == 2.0f);
  cudaFree(a);
  cudaFree(b);
  return finish();
}
