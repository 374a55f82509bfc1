// Divergence, barriers, calls, termination. `@name` as in shared.cu.
#include <cassert>
#include <cstdio>

extern "C" __global__ void nested(int* out) {
  int x = threadIdx.x, r = 0;
  if (x & 1) {  // @odd
    if (x & 2) r = 3;
    else r = 1;
  } else {
    for (int i = 0; i < x; ++i) r += i;
  }
  if (x == 5) {
    out[x] = -5;
    return;
  }
  out[x] = r;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }  // @fibonacci
extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }
__device__ __noinline__ int endless(int n) {
  int deeper = n == -1 ? 0 : endless(n + 1);
  return deeper ^ (deeper >> n);
}
extern "C" __global__ void endless_recursion(int* out) { out[threadIdx.x] = endless(threadIdx.x); }

extern "C" __global__ void barrier_in_branch(int* out, int limit) {
  __shared__ int word[64];
  word[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < limit) __syncthreads();  // @barrier-in-branch
  out[threadIdx.x] = word[threadIdx.x];
}

extern "C" __global__ void barriers_at_two_lines(int* out) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    __syncthreads();  // @first-line
  } else {
    out[threadIdx.x] = 2;
    __syncthreads();  // @second-line
  }
  out[threadIdx.x] += 1;
}

extern "C" __global__ void return_before_barrier(int* out, int n) {
  __shared__ int word[64];
  if (threadIdx.x >= n) return;
  word[threadIdx.x] = threadIdx.x;
  __syncthreads();  // @after-return
  out[threadIdx.x] = word[n - 1 - threadIdx.x];
}

extern "C" __global__ void endless_loop(int* out, int step) {
  for (int i = 0; i != 7; i += step) out[threadIdx.x] = i;  // @endless
}

extern "C" __global__ void print(int n) {
  if (threadIdx.x < n) printf("block %d thread %u: %5.2f %s %lld %%\n", blockIdx.x, threadIdx.x, threadIdx.x * 0.5, "text", 1ll << 40);
}
extern "C" __global__ void asserting(int limit) { assert(int(threadIdx.x) < limit); }  // @assert
extern "C" __global__ void trapping() { __trap(); }

extern "C" __global__ void producer_consumer(int* out) {
  __shared__ int box[32];
  int lane = threadIdx.x & 31;
  if (threadIdx.x < 32) {
    box[lane] = lane * lane;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[lane] = box[31 - lane];
  }
}

extern "C" __global__ void votes(int* out) {
  int x = threadIdx.x;
  int any = __syncthreads_or(x == 40), all = __syncthreads_and(x < 64), count = __syncthreads_count(x & 1);
  out[x] = any * 10000 + all * 1000 + count;
}

extern "C" __global__ void warp_functions(int* out) {
  unsigned all = 0xFFFFFFFFu;
  int x = threadIdx.x, sum = x;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(all, sum, d);
  sum = __shfl_sync(all, sum, 0);
  int ballot = __popc(__ballot_sync(all, x % 3 == 0));
  out[x] = sum + 1000 * ballot + 100000 * __any_sync(all, x == 31) + __shfl_xor_sync(all, x, 1) + __reduce_max_sync(all, x * 7);
}

extern "C" __global__ void launch_bounded(int* out);
extern "C" __global__ void __launch_bounds__(64) launch_bounded(int* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void big_shared(int* out) {
  __shared__ int word[10000];
  extern __shared__ int more[];
  word[threadIdx.x] = 1;
  more[threadIdx.x] = 2;
  out[threadIdx.x] = word[threadIdx.x] + more[threadIdx.x];
}
extern "C" __global__ void local_array(int* out, int pick) {
  int values[16];
  for (int i = 0; i < 16; ++i) values[i] = out[i] * i + threadIdx.x;
  out[32 + threadIdx.x] = values[(pick + threadIdx.x) & 15];
}
extern "C" __global__ void clocks(long long* out) {
  long long a = clock64();
  for (int i = 0; i < 10; ++i) out[1] = i;
  out[0] = clock64() - a;
}
