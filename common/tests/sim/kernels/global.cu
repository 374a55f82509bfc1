// Kernels with one planted fault each in their use of global memory, and clean twins. `@name` as in shared.cu.

extern "C" __global__ void copy(const float* in, float* out, int n, int extra) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + extra) out[i] = in[i];  // @copy
}

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
