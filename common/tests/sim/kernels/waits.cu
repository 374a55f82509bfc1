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
