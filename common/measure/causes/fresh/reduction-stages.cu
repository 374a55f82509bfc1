// sums of blocks in a scratch buffer, a second kernel of one block adds these
#include "check.h"

template <int THREADS>
__device__ float blockSum(float value) {
  __shared__ float all[THREADS];
  all[threadIdx.x] = value;
  __syncthreads();
#pragma unroll
  for (int half = THREADS / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
    __syncthreads();
  }
  return all[0];
}

template <int THREADS>
__global__ void sumOfBlocks(const float* x, float* partial, int n) {
  int at = blockIdx.x * THREADS + threadIdx.x;
  float mine = at < n ? x[at] : 0.0f;
  float sum = blockSum<THREADS>(mine);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <int THREADS>
__global__ void sumOfSums(const float* partial, float* sum, int blocks) {
  float mine = 0.0f;
  for (int i = threadIdx.x; i < blocks; i += THREADS) mine += partial[i];
  float total = blockSum<THREADS>(mine);
  if (threadIdx.x == 0) *sum = total;
}

struct Scratch {
  float* p = nullptr;
  explicit Scratch(size_t bytes) { CHECK(cudaMalloc(&p, bytes)); }
  ~Scratch() { cudaFree(p); }
};

void solve(const float* x, float* sum, int n) {
  constexpr int threads = 256;
  const int blocks = (n + threads - 1) / threads;
  Scratch partial(blocks * sizeof(float));
  sumOfBlocks<threads><<<blocks, threads>>>(x, partial.p, n);
  CHECK(cudaGetLastError());
  sumOfSums<threads><<<1, threads>>>(partial.p, sum, blocks);
  CHECK(cudaGetLastError());
}
