// What hardware does where the rules are broken, or nearly: one small kernel a case, the case's name
// is the argument. Prints the error that the launch ended with, and how many results were wrong.
//
// measure.py runs each case by itself, and again under compute-sanitizer.

#include <cstdio>
#include <cstring>

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffu;
constexpr int kRounds = 64;

__constant__ float constants[1024];

struct Args {
  const float* in;
  float* out;
  unsigned* wrong;  // counts
};

__device__ unsigned shared_address(const void* p) {
  return unsigned(__cvta_generic_to_shared(p));
}

// --- addresses of one state space, instructions for another one
__global__ void const_global(Args a) {
  float v;
  asm volatile("ld.const.f32 %0, [%1];" : "=f"(v) : "l"(a.in + threadIdx.x));
  a.out[threadIdx.x] = v;
}
__global__ void const_global_uniform(Args a) {
  float v;
  asm volatile("ld.const.f32 %0, [%1];" : "=f"(v) : "l"(a.in));
  a.out[threadIdx.x] = v;
}
__global__ void const_generic(Args a) {  // the generic address of a constant
  float v;
  asm volatile("ld.const.f32 %0, [%1];" : "=f"(v) : "l"(constants + threadIdx.x));
  a.out[threadIdx.x] = v;
}
__global__ void const_right(Args a) {
  float v;
  asm volatile("{ .reg .u64 p; cvta.to.const.u64 p, %1; ld.const.f32 %0, [p]; }" : "=f"(v) : "l"(constants + threadIdx.x));
  a.out[threadIdx.x] = v;
}
__global__ void const_past_end(Args a) {
  float v;
  asm volatile("{ .reg .u64 p; cvta.to.const.u64 p, %1; ld.const.f32 %0, [p]; }" : "=f"(v) : "l"(constants + 1000000 + threadIdx.x));
  a.out[threadIdx.x] = v;
}
__global__ void shared_generic(Args a) {  // ld.shared with a generic address of shared memory
  __shared__ float s[kThreads];
  s[threadIdx.x] = 1;
  __syncthreads();
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "l"(s + threadIdx.x) : "memory");
  a.out[threadIdx.x] = v;
}
__global__ void shared_global(Args a) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "l"(a.in + threadIdx.x) : "memory");
  a.out[threadIdx.x] = v;
}
__global__ void global_shared(Args a) {  // ld.global with a generic address of shared memory
  __shared__ float s[kThreads];
  s[threadIdx.x] = 1;
  __syncthreads();
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(s + threadIdx.x) : "memory");
  a.out[threadIdx.x] = v;
}
__global__ void global_local(Args a) {
  float s[8], v;
  asm volatile("st.f32 [%0], %1;" ::"l"(s + (threadIdx.x & 7)), "f"(1.0f) : "memory");
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(s + (threadIdx.x & 7)) : "memory");
  a.out[threadIdx.x] = v;
}
__global__ void local_global(Args a) {
  float v;
  asm volatile("ld.local.f32 %0, [%1];" : "=f"(v) : "l"(a.in + threadIdx.x) : "memory");
  a.out[threadIdx.x] = v;
}
__global__ void atom_shared_generic(Args a) {
  __shared__ unsigned s[kThreads];
  s[threadIdx.x] = 1;
  __syncthreads();
  unsigned v;
  asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(s + threadIdx.x) : "memory");
  a.out[threadIdx.x] = v;
}
__global__ void atom_global_shared(Args a) {
  __shared__ unsigned s[kThreads];
  s[threadIdx.x] = 1;
  __syncthreads();
  unsigned v;
  asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(s + threadIdx.x) : "memory");
  a.out[threadIdx.x] = v;
}
__global__ void atom_local(Args a) {
  unsigned s[8] = {}, v;
  asm volatile("atom.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(s + (threadIdx.x & 7)) : "memory");
  a.out[threadIdx.x] = v;
}
__global__ void atom_constant(Args a) {
  a.out[threadIdx.x] = atomicAdd(constants + threadIdx.x, 1.0f);
}

// --- copies of no bytes
__device__ void copy_16(Args a, const void* from, unsigned bytes) {
  __shared__ __align__(16) float s[4 * kThreads];
  for (int i = 0; i < 4; ++i) s[4 * threadIdx.x + i] = 7;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(s + 4 * threadIdx.x)), "l"(from), "r"(bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += s[4 * threadIdx.x + i];
  a.out[threadIdx.x] = sum;  // 0: filled with zeros
  if (sum != 0) atomicAdd(a.wrong, 1);
}
__global__ void zero_copy(Args a) { copy_16(a, a.in + 4 * threadIdx.x, 0); }
__global__ void zero_copy_null(Args a) { copy_16(a, nullptr, 0); }
__global__ void zero_copy_nowhere(Args a) { copy_16(a, (const void*)(0x10ull << 40), 0); }
__global__ void zero_copy_misaligned(Args a) { copy_16(a, (const char*)a.in + 4, 0); }
__global__ void part_copy(Args a) { copy_16(a, a.in + 4092, 8); }
__global__ void ignored_source(Args a) {
  __shared__ __align__(16) float s[4 * kThreads];
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(shared_address(s + 4 * threadIdx.x)), "l"(a.in), "r"(threadIdx.x + 1) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (s[4 * threadIdx.x] != 0) atomicAdd(a.wrong, 1);
}

// --- barriers. The product's shape: a tile is written by all warps, read by all, written again.
template <class Barrier>
__device__ void rounds(Args a, Barrier barrier) {
  __shared__ volatile float tile[kThreads];
  const int t = threadIdx.x, other = (t + 32) % kThreads;
  unsigned wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    tile[t] = float(round * kThreads + t);
    barrier();
    for (int i = 0; i < (t / 32) * 8; ++i) __nanosleep(20);
    wrong += tile[other] != float(round * kThreads + other);
    barrier();
  }
  atomicAdd(a.wrong, wrong);
}
__global__ void whole_barrier(Args a) {
  rounds(a, [] { asm volatile("bar.sync 0;" ::: "memory"); });
}
__global__ void named_barrier_of_all(Args a) {
  rounds(a, [] { asm volatile("bar.sync 1, 256;" ::: "memory"); });
}
__global__ void barrier_of_each_warp(Args a) {
  rounds(a, [] { asm volatile("bar.sync %0, 32;" ::"r"(threadIdx.x / 32 + 1) : "memory"); });
}
__global__ void barrier_of_pairs(Args a) {
  rounds(a, [] { asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64 + 1) : "memory"); });
}
__global__ void volatile_alone(Args a) {
  rounds(a, [] {});
}
__global__ void volatile_fence(Args a) {
  rounds(a, [] { __threadfence_block(); });
}
__global__ void both_arms(Args a) {  // one barrier in each arm, warps go to different ones
  rounds(a, [] {
    if (threadIdx.x / 32 % 2) {
      asm volatile("bar.sync 0; // one" ::: "memory");
    } else {
      asm volatile("bar.sync 0; // other" ::: "memory");
    }
  });
}
__global__ void both_arms_of_lanes(Args a) {  // the same within a warp
  rounds(a, [] {
    if (threadIdx.x % 2) {
      asm volatile("barrier.sync 0; // one" ::: "memory");
    } else {
      asm volatile("barrier.sync 0; // other" ::: "memory");
    }
  });
}

// --- lanes of one warp
template <class Sync>
__device__ void exchange(Args a, Sync sync) {
  __shared__ volatile float s[kThreads];
  const int t = threadIdx.x, other = t ^ 1;
  unsigned wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (t & 1)
      for (int i = 0; i < (round & 7); ++i) __nanosleep(20);
    s[t] = float(round * kThreads + t);
    sync();
    wrong += s[other] != float(round * kThreads + other);
    sync();
  }
  atomicAdd(a.wrong, wrong);
}
__global__ void lanes_synced(Args a) {
  exchange(a, [] { __syncwarp(); });
}
__global__ void lanes_volatile_alone(Args a) {
  exchange(a, [] {});
}
__global__ void syncwarp_in_both_arms(Args a) {
  exchange(a, [] {
    if (threadIdx.x & 1) {
      asm volatile("bar.warp.sync 0xffffffff; // one" ::: "memory");
    } else {
      asm volatile("bar.warp.sync 0xffffffff; // other" ::: "memory");
    }
  });
}
__global__ void syncwarp_not_named(Args a) {
  exchange(a, [] { __syncwarp(0x55555555); });
}
__global__ void shfl_half_full_mask(Args a) {  // half of the lanes, a mask of all
  unsigned v = threadIdx.x;
  if (threadIdx.x % 32 < 16) v = __shfl_xor_sync(kAll, v, 1);
  else __nanosleep(100);
  a.out[threadIdx.x] = v;
  if (v != (threadIdx.x % 32 < 16 ? threadIdx.x ^ 1 : threadIdx.x)) atomicAdd(a.wrong, 1);
}
__global__ void shfl_half_then_barrier(Args a) {
  unsigned v = threadIdx.x;
  if (threadIdx.x % 32 < 16) v = __shfl_xor_sync(kAll, v, 1);
  __syncthreads();
  a.out[threadIdx.x] = v;
}
__global__ void shfl_both_arms(Args a) {
  unsigned v = threadIdx.x;
  if (threadIdx.x & 1) {
    v = __shfl_xor_sync(kAll, v, 1);
    v += 1000;
  } else {
    v = __shfl_xor_sync(kAll, v, 1);
    v += 2000;
  }
  const unsigned right = (threadIdx.x ^ 1) + (threadIdx.x & 1 ? 1000 : 2000);
  if (v != right) atomicAdd(a.wrong, 1);
  a.out[threadIdx.x] = v;
}
__global__ void shfl_not_named(Args a) {
  const unsigned v = __shfl_xor_sync(0x0000ffffu, threadIdx.x, 1);
  if (v != (threadIdx.x ^ 1)) atomicAdd(a.wrong, 1);
  a.out[threadIdx.x] = v;
}
__global__ void shfl_from_inactive(Args a) {  // the mask is right, the source lane is not in it
  unsigned v = threadIdx.x;
  if (threadIdx.x % 32 < 16) v = __shfl_down_sync(0x0000ffffu, v, 8);
  if (v != (threadIdx.x % 32 < 16 ? threadIdx.x + 8 : threadIdx.x)) atomicAdd(a.wrong, 1);
  a.out[threadIdx.x] = v;
}
__global__ void shfl_after_exit(Args a) {
  if (threadIdx.x % 32 >= 16) return;
  const unsigned v = __shfl_xor_sync(kAll, threadIdx.x, 1);
  if (v != (threadIdx.x ^ 1)) atomicAdd(a.wrong, 1);
}
__global__ void ballot_half_full_mask(Args a) {
  unsigned v = 0;
  if (threadIdx.x % 32 < 16) v = __ballot_sync(kAll, 1);
  a.out[threadIdx.x] = v;
  if (threadIdx.x % 32 < 16 && v != 0xffff) atomicAdd(a.wrong, 1);
}
__global__ void two_masks(Args a) {  // each half names itself: right
  const unsigned mask = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  const unsigned v = __shfl_xor_sync(mask, threadIdx.x, 1);
  const unsigned all = __ballot_sync(mask, 1);
  if (v != (threadIdx.x ^ 1) || all != mask) atomicAdd(a.wrong, 1);
}
__global__ void reduce_two_masks(Args a) {  // each lane names all, but half of them another mask
  const unsigned v = __shfl_xor_sync(threadIdx.x % 32 < 16 ? kAll : 0xffff0000u, threadIdx.x, 1);
  if (v != (threadIdx.x ^ 1)) atomicAdd(a.wrong, 1);
}

#define CASES(X)                                                                                   \
  X(const_global) X(const_global_uniform) X(const_generic) X(const_right) X(const_past_end)        \
  X(shared_generic) X(shared_global) X(global_shared) X(global_local) X(local_global)              \
  X(atom_shared_generic) X(atom_global_shared) X(atom_local) X(atom_constant) X(zero_copy)         \
  X(zero_copy_null) X(zero_copy_nowhere) X(zero_copy_misaligned) X(part_copy)               \
  X(ignored_source) X(whole_barrier) X(named_barrier_of_all) X(barrier_of_each_warp)               \
  X(barrier_of_pairs) X(volatile_alone) X(volatile_fence) X(both_arms) X(both_arms_of_lanes)       \
  X(lanes_synced) X(lanes_volatile_alone) X(syncwarp_in_both_arms) X(syncwarp_not_named)           \
  X(shfl_half_full_mask) X(shfl_half_then_barrier) X(shfl_both_arms) X(shfl_not_named)             \
  X(shfl_from_inactive) X(shfl_after_exit) X(ballot_half_full_mask) X(two_masks) X(reduce_two_masks)

int main(int argc, char** argv) {
  if (argc < 2) {
#define NAME(name) puts(#name);
    CASES(NAME)
    return 0;
  }
  float* in;
  Args a{};
  unsigned wrong = 0;
  cudaMalloc(&in, 4096 * sizeof(float));
  cudaMemset(in, 0, 4096 * sizeof(float));
  a.in = in;
  cudaMalloc(&a.out, kThreads * sizeof(float));
  cudaMalloc(&a.wrong, sizeof(unsigned));
  cudaMemset(a.wrong, 0, sizeof(unsigned));
#define CASE(name) \
  if (!strcmp(argv[1], #name)) name<<<1, kThreads>>>(a);
  CASES(CASE)
  cudaError_t e = cudaGetLastError();
  if (e == cudaSuccess) e = cudaDeviceSynchronize();
  if (e == cudaSuccess) e = cudaMemcpy(&wrong, a.wrong, sizeof(wrong), cudaMemcpyDeviceToHost);
  printf("%s: %s, %u wrong\n", argv[1], cudaGetErrorName(e), wrong);
  return 0;
}
