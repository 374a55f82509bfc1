// Rules that are easy to get round: every access is counted, barriers and masks are for those who
// take part. Each kernel breaks one rule, or is a right one that comes near. A comment `@name`
// marks the line that a test expects to be named.
#define ALL 0xffffffffu

// --- state spaces
extern "C" __global__ void const_of_global(const float* in, float* out) {
  float v;
  asm volatile("ld.const.f32 %0, [%1];" : "=f"(v) : "l"(in + threadIdx.x));  // @const-of-global
  out[threadIdx.x] = v;
}
extern "C" __global__ void const_vector_of_global(const float* in, float* out) {
  float a, b, c, d;
  asm volatile("ld.const.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(in + 4 * threadIdx.x));
  out[threadIdx.x] = a + b + c + d;
}
extern "C" __global__ void const_of_one_lane(const float* in, float* out) {
  float v = 0;
  if (threadIdx.x == 7) asm volatile("ld.const.f32 %0, [%1];" : "=f"(v) : "l"(in));
  out[threadIdx.x] = v;
}
__constant__ float table[64];
extern "C" __global__ void constants_by_word(float* out, int step) {
  out[threadIdx.x] = table[threadIdx.x * step & 63];
}
extern "C" __global__ void shared_of_global(const float* in, float* out) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "l"(in + threadIdx.x));
  out[threadIdx.x] = v;
}

// --- atomics as loads and stores
extern "C" __global__ void atomics(float* data, float* out, unsigned* counts) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const float old = atomicAdd(data + threadIdx.x, 0.0f);  // 4 sectors, used
  atomicAdd(counts + threadIdx.x / 2, 1u);                // not used: two turns of 2 sectors
  out[threadIdx.x] = old + atomicExch(tile + threadIdx.x / 4, 1u);  // four lanes at a word
}
// A histogram as everybody writes it: two lanes at a word. ptxas counts those of a warp first.
extern "C" __global__ void counting(unsigned* out, unsigned by) {
  __shared__ unsigned tile[32], others[32];
  if (threadIdx.x < 32) tile[threadIdx.x] = others[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(tile + threadIdx.x / 2, 1u);
  atomicAdd(others + threadIdx.x / 2, by);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x / 2] + others[threadIdx.x / 2];
}
extern "C" __global__ void zero_copies(const float* in, float* out, int bytes) {
  __shared__ __align__(16) float tile[128];
  unsigned to = unsigned(__cvta_generic_to_shared(tile + 4 * threadIdx.x));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(in + 4 * threadIdx.x),
               "r"(bytes)
               : "memory");
  asm volatile("mov.u32 %0, %0; mov.u32 %0, %0;" : "+r"(to));
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = tile[4 * threadIdx.x];
}
extern "C" __global__ void ignored_sources(const float* in, float* out, int from) {
  __shared__ __align__(16) float tile[128];
  unsigned to = unsigned(__cvta_generic_to_shared(tile + 4 * threadIdx.x));
  asm volatile(
      "{ .reg .pred p; setp.ge.s32 p, %2, %3; cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(
          to),
      "l"(in + 4 * threadIdx.x), "r"(int(threadIdx.x)), "r"(from)
      : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = tile[4 * threadIdx.x];
}
extern "C" __global__ void in_local_memory(const int* in, float* out) {
  float own[8];
  for (int i = 0; i < 8; ++i) own[i] = threadIdx.x + i;
  own[in[0] & 7] = 1;
  out[threadIdx.x] = own[in[1] & 7];
}
extern "C" __global__ void in_two_spaces(const float* in, float* out) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 1;
  __syncthreads();
  const float* p = threadIdx.x & 1 ? tile + threadIdx.x : in + threadIdx.x;
  float v;
  asm volatile("ld.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  out[threadIdx.x] = v;
}

// --- barriers of some warps; a tile that the neighbour warp has written
enum Kind { kWhole, kNamedWhole, kOwnWarp, kPairs, kNone, kFence };
template <Kind kFirst, Kind kSecond, class Tile>
__device__ __forceinline__ void exchange(Tile* tile, float* out) {
  const int t = threadIdx.x, other = (t + 32) % blockDim.x;
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    tile[t] = float(i * 1000 + t);
    if (kFirst == kWhole) __syncthreads();
    if (kFirst == kNamedWhole) asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x) : "memory");
    if (kFirst == kOwnWarp) asm volatile("bar.sync %0, 32;" ::"r"(t / 32 + 1) : "memory");
    if (kFirst == kPairs) asm volatile("bar.sync %0, 64;" ::"r"(t / 64 + 1) : "memory");
    if (kFirst == kFence) __threadfence_block();
    sum += tile[other];
    if (kSecond == kWhole) __syncthreads();
    if (kSecond == kNamedWhole) asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x) : "memory");
    if (kSecond == kOwnWarp) asm volatile("bar.sync %0, 32;" ::"r"(t / 32 + 1) : "memory");
    if (kSecond == kPairs) asm volatile("bar.sync %0, 64;" ::"r"(t / 64 + 1) : "memory");
    if (kSecond == kFence) __threadfence_block();
  }
  out[t] = sum;
}
#define EXCHANGE(name, first, second, type)     \
  extern "C" __global__ void name(float* out) { \
    __shared__ type tile[128];                  \
    exchange<first, second>(tile, out);         \
  }
EXCHANGE(whole_barriers, kWhole, kWhole, float)
EXCHANGE(named_whole_barriers, kNamedWhole, kNamedWhole, float)
EXCHANGE(own_warp_first, kOwnWarp, kWhole, float)
EXCHANGE(own_warp_second, kWhole, kOwnWarp, float)
EXCHANGE(pairs, kPairs, kPairs, float)
EXCHANGE(volatile_whole, kWhole, kWhole, volatile float)
EXCHANGE(volatile_no_first, kNone, kWhole, volatile float)
EXCHANGE(volatile_no_second, kWhole, kNone, volatile float)
EXCHANGE(volatile_fences, kFence, kFence, volatile float)

// One warp fills a tile, another one uses it: bar.arrive and bar.sync, both ways.
extern "C" __global__ void producer_and_consumer(float* out, int hasty) {
  __shared__ float tile[32];
  const int t = threadIdx.x % 32;
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
      if (i > 0 && !hasty) asm volatile("bar.sync 2, 64;" ::: "memory");
      tile[t] = float(i + t);  // @produced
      if (hasty)
        asm volatile("bar.sync 1, 64;" ::: "memory");
      else
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else if (threadIdx.x < 64) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[t] = tile[31 - t];
      if (i < 3 && !hasty) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}

// A word that one warp writes and others wait for: right without a barrier.
extern "C" __global__ void waits_for_a_flag(float* out) {
  __shared__ volatile int flag;
  __shared__ volatile float value[32];
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    value[threadIdx.x] = threadIdx.x;
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x == 0) flag = 1;
  } else {
    while (flag == 0) {
    }
    out[threadIdx.x % 32] = value[31 - threadIdx.x % 32];
  }
}
// The second warp waits for the first: by looking at a word of shared memory, by atomics on one, by
// looking at a word of global memory.
extern "C" __global__ void waits_for_the_first_warp(int* word, int how) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  volatile int* at = how == 2 ? word : &flag;
  if (threadIdx.x >= 32) {
    if (how == 1) {
      while (atomicAdd((int*)&flag, 0) == 0) {
      }
    } else if (how == 0) {
      while (flag == 0) {
      }
    } else {
      while (*at == 0) {
      }
    }
  } else if (threadIdx.x == 0) {
    for (int i = 0; i < 1000; ++i) word[1] = i;
    *at = 1;
  }
}
// Atomics as loads and stores of a tile, with nothing between.
extern "C" __global__ void atomic_tile(float* out, int barrier) {
  __shared__ unsigned tile[128];
  tile[threadIdx.x] = 0;
  __syncthreads();
  atomicExch(&tile[threadIdx.x], threadIdx.x);
  if (barrier) __syncthreads();
  out[threadIdx.x] = atomicAdd(&tile[(threadIdx.x + 32) % 128], 0u);
}
extern "C" __global__ void histogram(const int* in, float* out) {
  __shared__ int bins[32];
  __shared__ int next;
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  atomicAdd(&bins[in[threadIdx.x] & 31], 1);
  const int place = atomicAdd(&next, 1);
  __syncthreads();
  if (threadIdx.x < 32) out[threadIdx.x] = bins[threadIdx.x] + (place & 0);
}

// --- lanes of one warp
extern "C" __global__ void volatile_lanes(float* out, int sync) {
  __shared__ volatile float s[32];
  const int t = threadIdx.x;
  s[t] = t;
  if (sync) __syncwarp();
  if (t < 16) out[t] = s[t] + s[t + 16];
}
extern "C" __global__ void half_a_sync(
    float* out) {  // lanes 16 to 31 are not among those that meet
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = t;
  if (t < 16) {
    __syncwarp(0x0000ffff);
    out[t] = s[t + 16];  // @half-a-sync
  }
  __syncwarp();
  if (t >= 16) out[t] = s[t - 16];
}
extern "C" __global__ void halves_meet(float* out) {
  __shared__ float s[32];
  const int t = threadIdx.x;
  s[t] = t;
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  out[t] = s[t ^ 1];
  __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
  s[t] = out[t];
}
#define IN_A_BRANCH(name, call)                    \
  extern "C" __global__ void name(unsigned* out) { \
    unsigned v = threadIdx.x;                      \
    if (threadIdx.x % 32 < 20) v = call;           \
    out[threadIdx.x] = v;                          \
  }
IN_A_BRANCH(shuffle_in_a_branch, __shfl_xor_sync(ALL, v, 1))
IN_A_BRANCH(ballot_in_a_branch, __ballot_sync(ALL, v & 1))
IN_A_BRANCH(any_in_a_branch, unsigned(__any_sync(ALL, v & 1)))
IN_A_BRANCH(match_in_a_branch, __match_any_sync(ALL, v & 1))
IN_A_BRANCH(reduce_in_a_branch, __reduce_add_sync(ALL, v))
IN_A_BRANCH(syncwarp_in_a_branch, (__syncwarp(ALL), v))
IN_A_BRANCH(shuffle_of_those_there, __shfl_down_sync(0x000fffffu, v, 1))
IN_A_BRANCH(shuffle_of_active_ones, __shfl_down_sync(__activemask(), v, 1))
extern "C" __global__ void shuffle_not_named(unsigned* out) {
  out[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, threadIdx.x, 1);
}
extern "C" __global__ void shuffle_two_masks(unsigned* out, unsigned low, unsigned high) {
  out[threadIdx.x] = __shfl_xor_sync(threadIdx.x < 16 ? low : high, threadIdx.x, 1);
}
extern "C" __global__ void votes_of_halves(unsigned* out) {
  const unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  out[threadIdx.x] = __ballot_sync(mask, 1) + unsigned(__all_sync(mask, threadIdx.x < 16));
}
extern "C" __global__ void shuffle_after_a_return(unsigned* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = __shfl_xor_sync(ALL, threadIdx.x, 1);
}
extern "C" __global__ void returns_at_once(int* out, int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;
  out[0] = 1;
}
extern "C" __global__ void never_ends(volatile int* flag) {
  while (*flag == 0) {
  }
}

// An exchange whose old value nobody reads is a store; one whose old value is read is not.
extern "C" __global__ void exchange_unread(unsigned* out) {
  __shared__ unsigned tile[32];
  atomicExch(&tile[threadIdx.x], threadIdx.x);
  atomicExch(&out[threadIdx.x], tile[threadIdx.x] + 1);
}
extern "C" __global__ void exchange_read(unsigned* out) {
  __shared__ unsigned tile[32];
  out[threadIdx.x] = atomicExch(&tile[threadIdx.x], threadIdx.x);
  out[32 + threadIdx.x] = atomicExch(&out[64 + threadIdx.x], 1u);
}
