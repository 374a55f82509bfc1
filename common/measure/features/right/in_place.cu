// Tiles that close their gaps in one array: each hands on how many are kept in one word, with no
// fence, and writes over what the tiles before it have read.
#include "../feature.h"

__global__ void keep_odd(int* a, int n, volatile unsigned long long* state) {
  __shared__ int before, kept[4];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
  const int v = i < n ? a[i] : 0;
  const unsigned odd = __ballot_sync(0xffffffffu, v & 1);
  if (threadIdx.x % 32 == 0) kept[warp] = __popc(odd);
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned long long sum = 0;
    if (blockIdx.x > 0)
      while (((sum = state[blockIdx.x - 1]) >> 32) == 0) {
      }
    before = int(sum);
    const unsigned own = kept[0] + kept[1] + kept[2] + kept[3];
    state[blockIdx.x] = 1ull << 32 | (unsigned(sum) + own);
  }
  __syncthreads();
  int at = before + __popc(odd & ((1u << threadIdx.x % 32) - 1));
  for (int w = 0; w < warp; ++w) at += kept[w];
  if (v & 1) a[at] = v;
}

int main() {
  const int n = 1000, blocks = 8;
  auto h = random_ints(n, 1000);
  int* a = to_device(h);
  auto* state = to_device(std::vector<unsigned long long>(blocks));
  keep_odd<<<blocks, 128>>>(a, n, state);
  auto o = from_device(a, n);
  std::vector<int> expected;
  for (int v : h)
    if (v & 1) expected.push_back(v);
  bool right = true;
  for (size_t i = 0; i < expected.size(); ++i) right &= o[i] == expected[i];
  expect("in place", right);
  OK(cudaFree(a));
  OK(cudaFree(state));
  return finish();
}
