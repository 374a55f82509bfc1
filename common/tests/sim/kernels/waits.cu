// Waits for a word of shared memory that others count down.

using Word = unsigned long long;

__device__ Word look(const Word* word) {
  Word value;
  asm volatile("ld.relaxed.cta.b64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

// As a wait looks that has been unrolled: once before the loop.
extern "C" __global__ void first_look(int* out) {
  __shared__ Word left;
  if (threadIdx.x == 0) left = blockDim.x;
  __syncthreads();
  atomicAdd(&left, Word(-1));
  if (look(&left) != 0) {
    while (look(&left) != 0) __nanosleep(20);
  }
  out[threadIdx.x] = 1;
}

// What the first look has seen is kept: it depends on who comes when.
extern "C" __global__ void first_look_kept(int* out) {
  __shared__ Word left;
  if (threadIdx.x == 0) left = blockDim.x;
  __syncthreads();
  atomicAdd(&left, Word(-1));
  const Word seen = look(&left);
  if (seen != 0) {
    while (look(&left) != 0) __nanosleep(20);
  }
  out[threadIdx.x] = int(seen);
}

__device__ uint2 look_at_both(const uint2* words) {
  uint2 value;
  asm volatile("ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "l"(words) : "memory");
  return value;
}

// Each block adds its number to the sum of the blocks before it: a state and a value in one word, looked at once before
// the loop, and used whichever look has seen it.
extern "C" __global__ void look_back(uint2* states, int* out) {
  uint2 before{1, 0};
  if (blockIdx.x > 0) {
    before = look_at_both(&states[blockIdx.x - 1]);
    while (__any_sync(~0u, before.x == 0)) before = look_at_both(&states[blockIdx.x - 1]);
  }
  const unsigned sum = before.y + blockIdx.x;
  if (threadIdx.x == 0) {
    asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(&states[blockIdx.x]), "r"(1), "r"(sum) : "memory");
    out[blockIdx.x] = int(sum);
  }
}

// The same without the loop: what has been seen by chance is used.
extern "C" __global__ void look_back_once(uint2* states, int* out) {
  uint2 before{1, 0};
  if (blockIdx.x > 0) before = look_at_both(&states[blockIdx.x - 1]);
  const unsigned sum = before.y + blockIdx.x;
  if (threadIdx.x == 0) {
    asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(&states[blockIdx.x]), "r"(1), "r"(sum) : "memory");
    out[blockIdx.x] = int(sum);
  }
}

// A list from which each thread takes the first element; the word is read before the loop and in it.
extern "C" __global__ void take_first(volatile int* heads, const int* next, int* out, int which) {
  int head = heads[which];
  while (true) {
    const int seen = atomicCAS(const_cast<int*>(&heads[which]), head, next[head]);
    if (seen == head) break;
    head = heads[which];
  }
  out[head] = threadIdx.x;
}

// As look_back, with the loop that the compiler makes of CUB's: it is left where a jump within it is not taken.
extern "C" __global__ void look_back_else(uint2* states, int* out) {
  uint2 before{1, 0};
  if (blockIdx.x > 0) {
    before = look_at_both(&states[blockIdx.x - 1]);
    asm volatile(
        "{\n.reg .pred p;\n.reg .pred q;\nbra.uni TEST;\n"
        "AGAIN: ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];\n"
        "TEST: setp.eq.u32 p, %0, 0;\nvote.sync.any.pred q, p, -1;\n@q bra WAIT;\nbra.uni DONE;\n"
        "WAIT: nanosleep.u32 20;\nbra.uni AGAIN;\nDONE:\n}"
        : "+r"(before.x), "+r"(before.y)
        : "l"(&states[blockIdx.x - 1])
        : "memory");
  }
  const unsigned sum = before.y + blockIdx.x;
  if (threadIdx.x == 0) {
    asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(&states[blockIdx.x]), "r"(1), "r"(sum) : "memory");
    out[blockIdx.x] = int(sum);
  }
}
