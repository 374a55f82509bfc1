// cuda::atomic_ref in three scopes: counters, a maximum, compare-exchange, flags with release and
// acquire between blocks, a lock.
#include <cuda/atomic>

#include "../feature.h"

struct Lock {
  int word;
  __device__ void take() {
    cuda::atomic_ref<int, cuda::thread_scope_device> a(word);
    int expected = 0;
    while (!a.compare_exchange_weak(expected, 1, cuda::memory_order_acquire,
                                    cuda::memory_order_relaxed))
      expected = 0;
  }
  __device__ void give() {
    cuda::atomic_ref<int, cuda::thread_scope_device>(word).store(0, cuda::memory_order_release);
  }
};

__global__ void count(const int* in, int n, int* bins, int* largest, unsigned long long* both) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    cuda::atomic_ref<int, cuda::thread_scope_block>(local[in[i] % 16])
        .fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(*largest).fetch_max(in[i]);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_system>(*both).fetch_xor(
        1ull << (in[i] % 64));
  }
  __syncthreads();
  if (threadIdx.x < 16)
    cuda::atomic_ref<int, cuda::thread_scope_device>(bins[threadIdx.x])
        .fetch_add(local[threadIdx.x]);
}

__global__ void pass_on(int* cells, cuda::atomic<int, cuda::thread_scope_device>* flags) {
  const int b = blockIdx.x;
  if (threadIdx.x == 0) {
    if (b > 0)
      while (flags[b - 1].load(cuda::memory_order_acquire) == 0) {
      }
    cells[b] = b == 0 ? 1 : 3 * cells[b - 1] + b;
    flags[b].store(1, cuda::memory_order_release);
    flags[b].notify_all();
  }
}

__global__ void locked(Lock* lock, int* total) {
  for (int k = 0; k < 3; ++k) {
    lock->take();
    *total = *total + threadIdx.x + blockIdx.x;
    lock->give();
  }
}

int main() {
  const int n = 5000;
  auto h = random_ints(n, 100000);
  int *in = to_device(h), *bins = to_device(std::vector<int>(16)),
      *largest = to_device(std::vector<int>(1));
  auto both = to_device(std::vector<unsigned long long>(1));
  count<<<4, 128>>>(in, n, bins, largest, both);
  std::vector<int> expected(16);
  int most = 0;
  unsigned long long x = 0;
  for (int v : h) ++expected[v % 16], most = v > most ? v : most, x ^= 1ull << (v % 64);
  expect("bins", from_device(bins, 16) == expected);
  expect("maximum", from_device(largest, 1)[0] == most);
  expect("xor", from_device(both, 1)[0] == x);
  int* cells = to_device(std::vector<int>(10));
  cuda::atomic<int, cuda::thread_scope_device>* flags;
  OK(cudaMalloc(&flags, 10 * sizeof *flags));
  OK(cudaMemset(flags, 0, 10 * sizeof *flags));
  pass_on<<<10, 32>>>(cells, flags);
  std::vector<int> chain(10, 1);
  for (int b = 1; b < 10; ++b) chain[b] = 3 * chain[b - 1] + b;
  expect("chain", from_device(cells, 10) == chain);
  Lock* lock;
  OK(cudaMalloc(&lock, sizeof *lock));
  OK(cudaMemset(lock, 0, sizeof *lock));
  int* total = to_device(std::vector<int>(1));
  locked<<<3, 40>>>(lock, total);
  expect("lock", from_device(total, 1)[0] == 3 * (3 * 40 * 39 / 2 + 40 * 3));
  for (void* p : {(void*)in, (void*)bins, (void*)largest, (void*)both, (void*)cells, (void*)flags,
                  (void*)lock, (void*)total})
    OK(cudaFree(p));
  return finish();
}
