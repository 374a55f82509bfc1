// Launches by every way: attributes, a dependent launch, large arguments, occupancy, functions'
// attributes, kernels as pointers.
#include <cuda_runtime.h>

#include "../feature.h"

struct Large {
  float a[500];
  int n;
};

__global__ void large(__grid_constant__ const Large p, float* out) {
  const int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  if (i < p.n) out[i] = p.a[i] * (1 + blockIdx.x + blockIdx.y + blockIdx.z);
}

__global__ void first(int* a) {
  a[threadIdx.x] = threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second(const int* a, int* b) {
  cudaGridDependencySynchronize();
  b[threadIdx.x] = a[threadIdx.x] * 2;
}

__global__ void __launch_bounds__(256, 2) much_shared(int* out) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < 20000; i += blockDim.x) s[i] = i;
  __syncthreads();
  out[threadIdx.x] = s[19999 - threadIdx.x];
}

template <int N>
__global__ void times(int* a) {
  a[threadIdx.x] *= N;
}

int main() {
  Large p;
  for (int i = 0; i < 500; ++i) p.a[i] = i * 0.5f;
  p.n = 480;
  float* f = to_device(std::vector<float>(500));
  large<<<dim3(1, 1, 1), dim3(8, 10, 6)>>>(p, f);
  auto o = from_device(f, 500);
  bool right = true;
  for (int i = 0; i < 480; ++i) right &= o[i] == i * 0.5f;
  expect("large arguments", right);
  int *a = to_device(std::vector<int>(256)), *b = to_device(std::vector<int>(256));
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  cudaLaunchConfig_t c = {};
  c.gridDim = 1, c.blockDim = 128, c.stream = s;
  cudaLaunchAttribute early;
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  c.attrs = &early, c.numAttrs = 1;
  first<<<1, 128, 0, s>>>(a);
  OK(cudaLaunchKernelEx(&c, second, (const int*)a, b));
  OK(cudaStreamSynchronize(s));
  auto r = from_device(b, 128);
  right = true;
  for (int i = 0; i < 128; ++i) right &= r[i] == 2 * i;
  expect("dependent launch", right);
  OK(cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 80000));
  much_shared<<<1, 256, 80000>>>(a);
  r = from_device(a, 256);
  expect("much shared memory", r[0] == 19999 && r[255] == 19744);
  void (*kernels[])(int*) = {times<2>, times<3>, times<5>};
  for (auto k : kernels) k<<<1, 256>>>(a);
  auto q = from_device(a, 256);
  expect("kernels as pointers", q[7] == r[7] * 30);
  int blocks, least, best;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, much_shared, 256, 80000));
  OK(cudaOccupancyMaxPotentialBlockSize(&least, &best, times<2>));
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, much_shared));
  expect("occupancy", blocks == 2 && best % 32 == 0 && attributes.maxThreadsPerBlock == 256);
  void* args[] = {&a};
  OK(cudaLaunchKernel((void*)times<7>, dim3(1), dim3(256), args, 0, s));
  OK(cudaStreamSynchronize(s));
  expect("cudaLaunchKernel", from_device(a, 256)[9] == q[9] * 7);
  OK(cudaStreamDestroy(s));
  OK(cudaFree(a));
  OK(cudaFree(b));
  OK(cudaFree(f));
  return finish();
}
