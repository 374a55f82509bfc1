// Kernels with one planted fault each in their use of global memory, and clean twins. `@name` as in shared.cu.

extern "C" __global__ void copy(const float* in, float* out, int n, int extra) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + extra) out[i] = in[i];  // @copy
}

extern "C" __global__ void read_at(const float* in, float* out, int at) { out[0] = in[at]; }

extern "C" __global__ void misaligned(const float* in, float* out) {
  const char* at = reinterpret_cast<const char*>(in) + 2;
  out[threadIdx.x] = reinterpret_cast<const float*>(at)[threadIdx.x];  // @misaligned
}

extern "C" __global__ void one_word_from_all_blocks(int* out, int same) {
  if (threadIdx.x == 0) out[same ? 0 : blockIdx.x] = blockIdx.x;  // @block-store
}
extern "C" __global__ void count_in_one_word(int* out) { atomicAdd(out, 1); }
extern "C" __global__ void forgotten_atomic(int* out) { out[0] += 1; }  // @forgotten-atomic

extern "C" __global__ void neighbours(int* data, int barrier) {
  data[threadIdx.x] = threadIdx.x;
  if (barrier) __syncthreads();
  int next = data[(threadIdx.x + 1) % blockDim.x];  // @neighbour
  if (barrier) __syncthreads();
  data[threadIdx.x] = next;
}

// The last block to finish adds up what the others left: ordered by a fence and an atomic.
__device__ unsigned finished;
extern "C" __global__ void last_block_sums(volatile int* part, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += part[b];
    *out = sum;
  }
}

// The same with plain accesses, every thread with a share, and the sums put where block 0 left its own.
enum Ticket { kFenceByAll, kFenceByOne, kNoFence, kFenceTooLate, kFenceOfBlock, kNoBarrier, kOtherWord };
__device__ unsigned tickets[2], of_block[16];
extern "C" __global__ void last_block_in_place(int* part, int how) {
  __shared__ bool last;
  const unsigned t = threadIdx.x, n = blockDim.x;
  part[blockIdx.x * n + t] = blockIdx.x + t;
  if (how == kFenceByAll) __threadfence();
  if (how == kFenceOfBlock) __threadfence_block();
  if (how != kNoBarrier) __syncthreads();
  if (t == 0) {
    if (how == kFenceByOne || how == kNoBarrier || how == kOtherWord) __threadfence();
    if (how == kOtherWord) atomicAdd(&of_block[blockIdx.x], 1);  // where nobody else looks
    last = how == kOtherWord ? blockIdx.x == gridDim.x - 1
                             : atomicInc(&tickets[0], gridDim.x - 1) == gridDim.x - 1;
    if (how == kFenceTooLate) __threadfence();
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += part[b * n + t];  // @last-block
  part[t] = sum;
}
extern "C" __global__ void last_block_released(int* part, int* out) {
  __shared__ bool last;
  part[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], 1;" : "=r"(before) : "l"(&tickets[1]) : "memory");
    last = before == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += part[b * blockDim.x + threadIdx.x];
  out[threadIdx.x] = sum;
}

// A lock that one thread of each warp takes.
extern "C" __global__ void locked_sum(int* lock, int* sum, int fences) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  if (fences) __threadfence();
  *sum += 1;  // @locked
  if (fences) __threadfence();
  atomicExch(lock, 0);
}

// Each block goes on from what the one before has left, and says so by a flag.
extern "C" __global__ void chain(volatile int* flags, int* out, int fences) {
  const unsigned b = blockIdx.x, t = threadIdx.x, n = blockDim.x;
  if (t == 0 && b > 0) while (flags[b - 1] == 0) {}
  __syncthreads();
  out[b * n + t] = b == 0 ? 1 : out[(b - 1) * n + t] + (b > 1 ? out[(b - 2) * n + t] : 0);  // @chain
  if (fences) __threadfence();
  __syncthreads();
  if (t == 0) flags[b] = 1;
}

extern "C" __global__ void write_null(int* out) { *out = 1; }  // @null
__constant__ float table[32];
__device__ float factors[4] = {1, 2, 4, 8};
extern "C" __global__ void constants(float* out) { out[threadIdx.x] = table[31 - threadIdx.x] * factors[threadIdx.x & 3]; }

extern "C" __global__ void sectors(const float* in, float* out, int stride, int shift) {
  out[threadIdx.x] = in[threadIdx.x * stride + shift];  // @sectors
}
extern "C" __global__ void sectors4(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }
extern "C" __global__ void in_two_buffers(const float* a, const float* b, float* out) {
  const float* from = threadIdx.x & 1 ? a : b;
  out[threadIdx.x] = from[threadIdx.x];
}
