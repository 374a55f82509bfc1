// What blocks, warps and calls may do beyond the usual: features grid|flag|lock|mapped|swap|virtual|chain|clock
// are right, features too-large|room|deadlock|swap-beside|bad-call are refused or found.

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "expect.h"

namespace cg = cooperative_groups;

// Every block adds to what the others left in the phase before.
__global__ void phases(int* sums, int rounds) {
  cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) {
    int* from = sums + (round & 1) * gridDim.x;
    int* to = sums + (~round & 1) * gridDim.x;
    if (threadIdx.x == 0) {
      int sum = 0;
      for (int b = 0; b < gridDim.x; ++b) sum += from[b];
      to[blockIdx.x] = sum;
    }
    grid.sync();
  }
}

// The first block waits for the last one.
__global__ void wait_for_last(volatile int* flag, int* result) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == gridDim.x - 1) {
      *result = 5;
      __threadfence();
      *flag = 1;
    }
    if (blockIdx.x == 0) {
      while (*flag == 0) {
      }
      __threadfence();
      ++*result;
    }
  }
}

// A barrier of the grid by hand: all blocks must be resident.
__global__ void all_wait(volatile int* arrived) {
  if (threadIdx.x == 0) {
    atomicAdd((int*)arrived, 1);
    while (*arrived < gridDim.x) {
    }
  }
  __syncthreads();
}

// An item can be done when the next one is, most often by another block, in a loop that does other
// things as well.
__global__ void chain(volatile int* done, int count) {
  bool is_missing = true;
  while (is_missing) {
    is_missing = false;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      if (done[i] != 0) continue;
      if (i + 1 == count)
        done[i] = 1;
      else if (done[i + 1] != 0)
        done[i] = done[i + 1] + 1;
      else
        is_missing = true;
    }
  }
}

// Waits for two thousand million cycles, a second of a GPU.
__global__ void spin(long long cycles, long long* waited) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  *waited = clock64() - start;
}

// A lock per thread: lanes of one warp wait for each other.
__global__ void locked(int* lock, volatile int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count = *count + 1;
  __threadfence();
  atomicExch(lock, 0);
  __syncthreads();
}

// Nobody unlocks.
__global__ void never_unlocked(int* lock, volatile int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *count = *count + 1;
}

// An atomic maximum as it is made from a compare-and-swap: a plain load begins it.
__device__ void raise(unsigned* word, unsigned value) {
  unsigned seen = *word;
  while (seen < value) {
    const unsigned before = atomicCAS(word, seen, value);
    if (before == seen) break;
    seen = before;
  }
}

__global__ void raise_all(unsigned* largest) {
  __shared__ unsigned of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  const unsigned value = (blockIdx.x * blockDim.x + threadIdx.x) * 40503u % 65536u;
  raise(&of_block, value);
  raise(&largest[0], value);
  __syncthreads();
  if (threadIdx.x == 0) raise(&largest[1], of_block);
}

// The swap is of another word than the load.
__global__ void raise_beside(unsigned* largest) {
  const unsigned seen = largest[1];
  if (atomicCAS(&largest[0], seen, threadIdx.x + 1) == seen) largest[1] = threadIdx.x + 1;
}

__managed__ int g_total = 3;
__managed__ float g_table[4];

__global__ void use_managed(int* mapped) {
  atomicAdd(&g_total, 1);
  g_table[threadIdx.x & 3] = 0.5f * (threadIdx.x & 3);
  if (mapped) mapped[threadIdx.x] += int(threadIdx.x);
}

struct Shape {
  __device__ virtual float area(float x) const = 0;
};
struct Square : Shape {
  __device__ float area(float x) const override { return x * x; }
};
struct Double : Shape {
  __device__ float area(float x) const override { return 2 * x; }
};
__device__ float third(float x) {
  return x / 4;
}
__device__ float fourth(float x) {
  return x - 1;
}
using Function = float (*)(float);
__device__ Function g_functions[2] = {third, fourth};

__global__ void call_virtual(float* out, const int* which) {
  Square square;
  Double twice;
  const int lane = threadIdx.x;
  const Shape* shape = which[lane] & 1 ? static_cast<const Shape*>(&square) : &twice;
  out[lane] = shape->area(float(lane)) + g_functions[which[lane] >> 1 & 1](float(lane));
}

__global__ void call_nothing(float* out, Function f) {
  out[threadIdx.x] = f(1.0f);
}

int* zeros(int count) {
  int* p;
  EXPECT_OK(cudaMalloc(&p, count * sizeof(int)));
  EXPECT_OK(cudaMemset(p, 0, count * sizeof(int)));
  return p;
}

int fetch(const int* p) {
  int value = -1;
  EXPECT_OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void grid_sync(int blocks, int code) {
  std::vector<int> ones(2 * blocks, 1);
  int *sums = zeros(2 * blocks), rounds = 3;
  cudaMemcpy(sums, ones.data(), ones.size() * sizeof(int), cudaMemcpyHostToDevice);
  void* arguments[] = {&sums, &rounds};
  EXPECT_CODE(cudaLaunchCooperativeKernel((void*)phases, blocks, 64, arguments, 0, 0), code);
  if (code != 0) return;
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(fetch(sums + blocks) == blocks * blocks * blocks);
}

void mapped() {
  g_total = 4;
  std::vector<int> mine(64, 7);
  EXPECT_OK(cudaHostRegister(mine.data(), 64 * sizeof(int), cudaHostRegisterMapped));
  int* device;
  EXPECT_OK(cudaHostGetDevicePointer(&device, mine.data(), 0));
  use_managed<<<1, 64>>>(device);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(g_total == 68 && g_table[3] == 1.5f && mine[63] == 70);
  EXPECT_OK(cudaHostUnregister(mine.data()));
}

void swaps() {
  unsigned* largest = (unsigned*)zeros(2);
  raise_all<<<16, 128>>>(largest);
  unsigned expected = 0;
  for (unsigned i = 0; i < 16 * 128; ++i) expected = std::max(expected, i * 40503u % 65536u);
  EXPECT(unsigned(fetch((int*)largest)) == expected);
  EXPECT(unsigned(fetch((int*)largest + 1)) == expected);
}

__device__ int digest(const int* x, int n) {
  return n == 0 ? 0 : digest(x, n - 1) * 31 ^ x[n - 1];
}

__global__ void digest_all(const int* x, int* out, int n) { *out = digest(x, n); }

// By a recursion of n calls, whose line tests look for.
void digests(int n, int code) {
  std::vector<int> values(n, 7);
  int *x = zeros(n), *out = zeros(1);
  EXPECT_OK(cudaMemcpy(x, values.data(), 4 * n, cudaMemcpyHostToDevice));
  digest_all<<<1, 1>>>(x, out, n);
  EXPECT_CODE(cudaDeviceSynchronize(), code);
  if (code != cudaSuccess) return;
  unsigned expected = 0;
  for (int i = 0; i < n; ++i) expected = expected * 31 ^ 7;
  EXPECT(unsigned(fetch(out)) == expected);
}

void virtual_calls() {
  std::vector<int> which(64);
  for (int i = 0; i < 64; ++i) which[i] = i * 7 / 3;
  int* chosen = zeros(64);
  cudaMemcpy(chosen, which.data(), 256, cudaMemcpyHostToDevice);
  float* out;
  EXPECT_OK(cudaMalloc(&out, 256));
  call_virtual<<<1, 64>>>(out, chosen);
  std::vector<float> result(64);
  EXPECT_OK(cudaMemcpy(result.data(), out, 256, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) {
    const float x = float(i), area = which[i] & 1 ? x * x : 2 * x;
    EXPECT(result[i] == area + (which[i] >> 1 & 1 ? x - 1 : x / 4));
  }
}

void chains() {
  constexpr int kItems = 256;
  int* done = zeros(kItems);
  chain<<<4, 32>>>(done, kItems);
  EXPECT(fetch(done) == kItems);
}

void clocks() {
  constexpr long long kCycles = 2'000'000'000;
  long long *waited = (long long*)zeros(2), result = 0;
  spin<<<1, 1>>>(kCycles, waited);
  EXPECT_OK(cudaMemcpy(&result, waited, sizeof result, cudaMemcpyDeviceToHost));
  EXPECT(result >= kCycles && result < 2 * kCycles);
}

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  auto is = [&](const char* name) { return !std::strcmp(which, name); };
  if (is("grid")) {
    grid_sync(40, cudaSuccess);
  } else if (is("too-large")) {
    grid_sync(100000, cudaErrorCooperativeLaunchTooLarge);
  } else if (is("flag")) {
    int *flag = zeros(1), *result = zeros(1);
    wait_for_last<<<300, 32>>>(flag, result);
    EXPECT(fetch(result) == 6);
  } else if (is("room")) {  // one block a multiprocessor, so that the last one is not resident
    int* flag = zeros(1);
    EXPECT_OK(cudaFuncSetAttribute(all_wait, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
    all_wait<<<300, 32, 200000>>>(flag);
    EXPECT_CODE(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  } else if (is("deadlock")) {
    int *flag = zeros(1), *result = zeros(1);
    EXPECT_OK(cudaMemset(flag, 0, 4));
    never_unlocked<<<2, 64>>>(flag, result);
    EXPECT_CODE(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
  } else if (is("lock")) {
    int *lock = zeros(1), *count = zeros(1);
    locked<<<4, 96>>>(lock, count);
    EXPECT(fetch(count) == 4 * 96);
  } else if (is("mapped")) {
    mapped();
  } else if (is("swap")) {
    swaps();
  } else if (is("swap-beside")) {
    raise_beside<<<1, 64>>>((unsigned*)zeros(2));
    EXPECT_OK(cudaDeviceSynchronize());
  } else if (is("chain")) {
    chains();
  } else if (is("clock")) {
    clocks();
  } else if (is("virtual")) {
    virtual_calls();
  } else if (is("stack")) {
    digests(4, cudaSuccess);
    EXPECT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 100'000));
    digests(1000, cudaSuccess);
  } else if (is("stack-reset")) {
    EXPECT_OK(cudaDeviceSetLimit(cudaLimitStackSize, 100'000));
    EXPECT_OK(cudaDeviceReset());
    size_t bytes = 0;
    EXPECT_OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    EXPECT(bytes == 1024);
    digests(1000, cudaErrorIllegalAddress);
  } else if (is("stack-overflow")) {
    digests(1000, cudaErrorIllegalAddress);
  } else if (is("bad-call")) {
    float* out;
    EXPECT_OK(cudaMalloc(&out, 128));
    call_nothing<<<1, 32>>>(out, nullptr);
    EXPECT_CODE(cudaDeviceSynchronize(), 718);  // cudaErrorInvalidPc
  }
  return finish();
}
