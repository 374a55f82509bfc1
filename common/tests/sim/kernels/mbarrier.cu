// Barriers in shared memory: what they order, and mistakes with them. A comment @name marks a line
// that a test asks for.
#include <cstdint>

namespace {

__device__ uint32_t at(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ void init(uint64_t* bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count)  // @init
               : "memory");
}
__device__ void inval(uint64_t* bar) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(bar)) : "memory");  // @inval
}
__device__ uint64_t arrive(uint64_t* bar) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
               : "=l"(state)
               : "r"(at(bar))  // @arrive
               : "memory");
  return state;
}
__device__ void arrive_times(uint64_t* bar, uint32_t times) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)),
               "r"(times)  // @times
               : "memory");
}
__device__ void expect(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes)
               : "memory");
}
__device__ void complete(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(at(bar)),
               "r"(bytes)
               : "memory");
}
__device__ bool try_wait(uint64_t* bar, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(at(bar)), "r"(parity)  // @try
      : "memory");
  return done;
}
__device__ bool test_wait(uint64_t* bar, uint64_t state) {
  uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\nmbarrier.test_wait.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(at(bar)), "l"(state)
      : "memory");
  return done;
}
__device__ uint32_t pending(uint64_t state) {
  uint32_t count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
}

}  // namespace

// One warp writes, others read, round after round: `full` says that there is something to read,
// `empty` that all have read it. fault: 1 the readers do not wait, 2 nor does the writer, 3 a
// reader's warp arrives before all its lanes have read, 4 the wait has the wrong parity, 5 one
// arrival too few, 6 nobody has seen the barriers' init, 7 the writer waits for a round too many.
extern "C" __global__ void ring(float* out, int rounds, int fault) {
  __shared__ uint64_t full, empty;
  __shared__ float slot[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, readers = blockDim.x / 32 - 1;
  if (threadIdx.x == 0) {
    init(&full, 32);
    init(&empty, fault == 5 ? readers + 1 : readers);
  }
  if (fault != 6) __syncthreads();
  if (warp == 0) {
    for (int r = 0; r < rounds; ++r) {
      if (r > 0 && fault != 2)
        while (!try_wait(&empty, (r - 1) & 1)) {
        }
      slot[lane] = r * 32.0f + lane;  // @write
      arrive(&full);
    }
    if (fault == 7)
      while (!try_wait(&empty, rounds & 1)) {
      }
    return;
  }
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    if (fault != 1)
      while (!try_wait(&full, (r + (fault == 4)) & 1)) {
      }
    sum += slot[lane ^ 1];  // @read
    if (fault != 3) __syncwarp();
    if (lane == 0) arrive(&empty);
  }
  out[threadIdx.x - 32] = sum;
}

// Lanes of one warp in two branches, each of which waits for the other.
extern "C" __global__ void halves(int* out) {
  __shared__ uint64_t bar[2];
  __shared__ int told[2];
  if (threadIdx.x == 0) {
    init(&bar[0], 1);
    init(&bar[1], 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    told[0] = 5;
    arrive(&bar[0]);
    while (!try_wait(&bar[1], 0)) {
    }
    out[0] = told[1];
  } else if (threadIdx.x == 1) {
    while (!try_wait(&bar[0], 0)) {
    }
    told[1] = told[0] + 1;
    arrive(&bar[1]);
  }
}

// States and counts: out[] gets what pending_count and test_wait say.
extern "C" __global__ void states(uint32_t* out) {
  __shared__ uint64_t bar;
  init(&bar, 3);
  const uint64_t first = arrive(&bar);
  out[0] = pending(first);
  out[1] = test_wait(&bar, first);
  const uint64_t second = arrive(&bar);
  out[2] = pending(second);
  arrive(&bar);
  out[3] = test_wait(&bar, first);
  out[4] = try_wait(&bar, 0);
  out[5] = try_wait(&bar, 1);
  arrive_times(&bar, 3);
  out[6] = try_wait(&bar, 0);
  out[7] = try_wait(&bar, 1);
  asm volatile("{\n.reg .b64 t;\nmbarrier.arrive_drop.shared.b64 t, [%0];\n}" ::"r"(at(&bar))
               : "memory");
  arrive_times(&bar, 2);
  out[8] = pending(arrive(&bar));  // two are left
  expect(&bar, 64);
  out[9] = try_wait(&bar, 1);
  complete(&bar, 64);
  out[10] = try_wait(&bar, 1);
  inval(&bar);
}

// One thread misuses a barrier; the others do nothing.
extern "C" __global__ void misuse(int fault) {
  __shared__ uint64_t bar;
  __shared__ uint64_t other;
  if (fault != 1) init(&bar, fault == 2 ? 0 : 2);
  if (fault == 1) arrive(&bar);
  if (fault == 3) {
    arrive(&bar);
    init(&bar, 2);
  }
  if (fault == 4) {
    inval(&bar);
    arrive(&bar);
  }
  if (fault == 5) {
    *static_cast<volatile uint64_t*>(&bar) = 1;
    arrive(&bar);
  }
  if (fault == 6) arrive_times(&bar, 3);
  if (fault == 7) {
    expect(&bar, 64);
    arrive(&bar);
    complete(&bar, 32);
    while (!try_wait(&bar, 0)) {
    }
  }
  if (fault == 8) {
    arrive(&bar);
    inval(&bar);
  }
  if (fault == 9) {
    expect(&bar, 32);
    arrive(&bar);
    complete(&bar, 64);
    while (!try_wait(&bar, 0)) {
    }
  }
  if (fault == 10)
    asm volatile(
        "{\n.reg .b64 t;\nmbarrier.arrive.noComplete.shared.b64 t, [%0], 2;\n}" ::"r"(at(&bar))  // @last
        : "memory");
  if (fault == 11) arrive(reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(&other) + 4));
}

// cp.async whose end is an arrival: the readers wait at the barrier alone. fault 1: they do not.
extern "C" __global__ void copies(const float* in, float* out, int fault) {
  __shared__ uint64_t bar;
  __shared__ float tile[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&tile[threadIdx.x])),
               "l"(in + threadIdx.x)
               : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(&bar)) : "memory");
  if (fault == 0)
    while (!try_wait(&bar, 0)) {
    }
  out[threadIdx.x] = tile[threadIdx.x ^ 1];  // @tile
}

// Waits for an arrival that does not come, and gives up: 0 after so many turns by a count, 1 by a
// count in shared memory, 2 when the clock has gone on so far.
extern "C" __global__ void gives_up(int* out, int kind, int turns) {
  __shared__ uint64_t bar;
  __shared__ volatile int count;
  init(&bar, 2);
  count = 0;
  arrive(&bar);
  int n = 0;
  const long long start = clock64();
  if (kind == 0) {
    while (!try_wait(&bar, 0) && n < turns) ++n;
  } else if (kind == 1) {
    while (!try_wait(&bar, 0) && count < turns) count = count + 1;
  } else {
    while (!try_wait(&bar, 0) && clock64() - start < turns) {
    }
  }
  out[0] = kind == 1 ? count : n;
}

// Warps that multiply, and one that hands them stages of a ring, phase after phase. meets: all arrive
// at one more mbarrier in each phase and wait for the others.
extern "C" __global__ void stages(float* out, int phases, int stages, int meets) {
  __shared__ uint64_t full[4], empty[4], all;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, workers = blockDim.x / 32 - 1;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      init(&full[s], 1);
      init(&empty[s], workers);
    }
    init(&all, workers);
  }
  __syncthreads();
  if (warp == workers) {
    for (int ph = 0; lane == 0 && ph < phases; ++ph) {
      if (ph >= stages)
        while (!try_wait(&empty[ph % stages], (ph / stages - 1) % 2)) {
        }
      arrive(&full[ph % stages]);
    }
    return;
  }
  float sum = 0;
  for (int ph = 0; ph < phases; ++ph) {
    while (!try_wait(&full[ph % stages], ph / stages % 2)) {
    }
#pragma unroll 1
    for (int i = 0; i < 16; ++i) sum = sum * 0.5f + out[threadIdx.x];
    __syncwarp();
    if (lane == 0) arrive(&empty[ph % stages]);
    if (!meets) continue;
    if (lane == 0) arrive(&all);
    while (!try_wait(&all, ph % 2)) {
    }
  }
  out[threadIdx.x] = sum;
}

// The same ring, and words in memory by which its warps may meet in each phase, as `how` says.
extern "C" __global__ void words(float* out, unsigned* far, int phases, int how) {
  __shared__ uint64_t full[3], empty[3];
  __shared__ unsigned came[32], count;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, workers = blockDim.x / 32 - 1;
  if (threadIdx.x < 32) came[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    count = 0;
    for (int s = 0; s < 3; ++s) {
      init(&full[s], 1);
      init(&empty[s], workers);
    }
  }
  __syncthreads();
  if (warp == workers) {
    for (int ph = 0; lane == 0 && ph < phases; ++ph) {
      if (ph >= 3)
        while (!try_wait(&empty[ph % 3], (ph / 3 - 1) % 2)) {
        }
      arrive(&full[ph % 3]);
    }
    return;
  }
  volatile unsigned* const words = came;
  float sum = 0;
  for (unsigned ph = 0; ph < phases; ++ph) {
    while (!try_wait(&full[ph % 3], ph / 3 % 2)) {
    }
#pragma unroll 1
    for (int i = 0; i < 16; ++i) sum = sum * 0.5f + out[threadIdx.x];
    __syncwarp();
    if (lane == 0) arrive(&empty[ph % 3]);
    if (how == 1) {  // each has a word, and all read those of all
      if (lane == 0) words[warp] = ph + 1;
      while (lane < workers && words[lane] <= ph) {
      }
    } else if (how == 2 && lane == 0) {  // all ask a counter
      atomicAdd(&count, 1u);
      while (atomicAdd(&count, 0u) < workers * (ph + 1)) {
      }
    } else if (how == 3 && lane == 0) {  // the same, but not for ever
      atomicAdd(&count, 1u);
      for (int tries = 0; tries < 100000 && atomicAdd(&count, 0u) < workers * (ph + 1); ++tries) {
      }
    } else if (how == 4 && lane == 0) {  // the same in global memory
      atomicAdd(far, 1u);
      while (*static_cast<volatile unsigned*>(far) < workers * (ph + 1)) {
      }
    } else if (how == 5 && lane == 0) {  // the last one lets the others go
      if (atomicAdd(&count, 1u) % workers == workers - 1)
        words[0] = ph + 1;
      else
        while (words[0] <= ph) {
        }
    } else if (how == 6 && lane == 0) {  // a number is taken, and nobody waits
      if (atomicAdd(&count, 1u) % workers == workers - 1) words[0] = ph + 1;
    } else if (how == 7 && lane == 0) {  // each waits for the one before it
      words[warp] = ph + 1;
      while (warp > 0 && words[warp - 1] <= ph) {
      }
    }
    __syncwarp();
  }
  out[threadIdx.x] = sum;
}

// Fills a word by a copy in bulk, asks `looks` times whether it has come, and reads it.
extern "C" __global__ void looks(const float* from, float* out, int looks) {
  __shared__ alignas(16) float word[4];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    expect(&bar, 16);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(at(word)),
        "l"(from), "r"(at(&bar))
        : "memory");
    int n = 0;
    while (!try_wait(&bar, 0) && (looks == 0 || n < looks)) ++n;
    out[0] = word[0];
  }
}
