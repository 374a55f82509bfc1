// A sum of a grid by the last block to come, a barrier of blocks by hand, and a ring of flags, all
// with fences.
#include "../feature.h"

__device__ unsigned d_done, d_arrived;
__device__ volatile unsigned d_generation;

__global__ void sum(const int* in, int n, int* parts, int* out) {
  __shared__ int s[128];
  __shared__ bool last;
  int v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    v += in[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int k = 64; k; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(&d_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += *(volatile int*)&parts[b];
    *out = all;
  }
}

__device__ void meet() {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned generation = d_generation;
    __threadfence();
    if (atomicAdd(&d_arrived, 1) == gridDim.x - 1) {
      d_arrived = 0;
      __threadfence();
      d_generation = generation + 1;
    } else {
      while (d_generation == generation) __nanosleep(20);
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void rotate(int* a, int* b, int n, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      b[i] = a[(i + 3) % n] + 1;
    meet();
    int* t = a;
    a = b, b = t;
  }
}

int main() {
  const int n = 4000, blocks = 8;
  auto h = random_ints(n, 1000);
  int *in = to_device(h), *other = to_device(h), *parts = to_device(std::vector<int>(blocks)),
      *out = to_device(std::vector<int>(1));
  int expected = 0;
  for (int v : h) expected += v;
  for (int r = 0; r < 2; ++r) sum<<<blocks, 128>>>(in, n, parts, out);
  expect("last block", from_device(out, 1)[0] == expected);
  rotate<<<6, 64>>>(in, other, n, 4);
  auto o = from_device(in, n);
  bool right = true;
  for (int i = 0; i < n; ++i) right &= o[i] == h[(i + 12) % n] + 4;
  expect("barrier of blocks", right);
  for (int* p : {in, other, parts, out}) OK(cudaFree(p));
  return finish();
}
