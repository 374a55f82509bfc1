// Kernels that launch kernels: a tree of sums by recursion, a launch into the tail, several streams
// of a block.

// nvcc: -rdc=true
#include "../feature.h"

__global__ void tree(const int* in, int* out, int from, int count) {
  if (count <= 32) {
    int v = threadIdx.x < count ? in[from + threadIdx.x] : 0;
    for (int k = 16; k; k /= 2) v += __shfl_down_sync(0xffffffffu, v, k);
    if (threadIdx.x == 0) atomicAdd(out, v);
    return;
  }
  if (threadIdx.x == 0) {
    const int half = count / 2;
    tree<<<1, 32, 0, cudaStreamFireAndForget>>>(in, out, from, half);
    tree<<<1, 32>>>(in, out, from + half, count - half);
  }
}

__global__ void finish_up(const int* sum, int* result) {
  *result = *sum * 2 + 1;
}

__global__ void start(const int* in, int* sum, int* result, int count) {
  tree<<<1, 32>>>(in, sum, 0, count);
  finish_up<<<1, 1, 0, cudaStreamTailLaunch>>>(sum, result);
}

__global__ void child(int* a, int v) {
  a[threadIdx.x] += v;
}

__global__ void own_streams(int* a) {
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  child<<<1, 16, 0, s>>>(a + 16 * threadIdx.x, threadIdx.x + 1);
  child<<<1, 16, 0, s>>>(a + 16 * threadIdx.x, 100);
  cudaStreamDestroy(s);
}

int main() {
  auto v = random_ints(1000, 50);
  int *in = to_device(v), *sum = to_device(std::vector<int>(1)),
      *result = to_device(std::vector<int>(1));
  start<<<1, 1>>>(in, sum, result, 1000);
  int expected = 0;
  for (int x : v) expected += x;
  expect("tree", from_device(sum, 1)[0] == expected);
  expect("tail", from_device(result, 1)[0] == 2 * expected + 1);
  int* a = to_device(std::vector<int>(64));
  own_streams<<<1, 4>>>(a);
  auto o = from_device(a, 64);
  bool right = true;
  for (int i = 0; i < 64; ++i) right &= o[i] == i / 16 + 101;
  expect("streams of threads", right);
  for (int* p : {in, sum, result, a}) OK(cudaFree(p));
  return finish();
}
