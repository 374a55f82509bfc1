// Kernels for shared_chunks_test.cpp: accesses that share a chunk of 32 words of the shared shadow.

extern "C" {

// More loads than are noted down in one interval, then a store that races with the first of them.
__global__ void many_reads(float* P, int turns, int early) {
  __shared__ float s[64];
  s[threadIdx.x & 63] = 0.5f;
  __syncthreads();
  volatile float* keep = P;
  float sum = s[threadIdx.x & 31];  // @first-read
  for (int k = 0; k < turns; ++k) sum += s[32 + ((threadIdx.x + k) & 31)];
  if (early == 0) __syncthreads();
  // The last warp to reach the barrier goes on first, so that this one is the last to read.
  if (threadIdx.x == 223) s[3] = sum;  // @late-write
  __syncthreads();
  keep[threadIdx.x] = sum + s[threadIdx.x & 63];
}

// One warp reads one half of a chunk while another writes the other half; with swap 32 the one that
// runs first is the reader.
__global__ void halves(float* P, int overlap, int swap) {
  int thread = threadIdx.x ^ swap;
  __shared__ float s[32];
  if (threadIdx.x < 32) s[threadIdx.x] = 1.0f;
  __syncthreads();
  float value = 0;
  if (thread < 16) value = s[thread];  // @half-read
  if (thread >= 32 && thread < 48) s[16 - overlap + thread - 32] = P[thread];  // @half-write
  __syncthreads();
  if (threadIdx.x < 32) P[64 + threadIdx.x] = value + s[threadIdx.x];
}

// A store in the interval before the read, and words of the chunk that nobody wrote.
__global__ void partly_written(float* P, int from) {
  __shared__ float s[64];
  if (threadIdx.x < 20) s[threadIdx.x] = 1.0f;
  __syncthreads();
  if (threadIdx.x < 8) P[threadIdx.x] = s[from + threadIdx.x];  // @part-read
}

// More shapes of accesses than are remembered, then a race.
__global__ void many_patterns(const int* index, float* P, int turns) {
  __shared__ float s[512];
  for (int i = threadIdx.x; i < 512; i += 64) s[i] = 1.0f;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < turns; ++k) sum += s[index[(k * 37 + threadIdx.x * (k + 1)) & 8191]];
  if (threadIdx.x == 0) s[511] = sum;  // @pattern-write
  __syncthreads();
  P[threadIdx.x] = sum + s[threadIdx.x];
}

// The lanes lie side by side, and move together for some turns; then each goes a step of its own.
__global__ void moving_apart(const float* M, float* P, int rounds, int turns) {
  const float* at = M + threadIdx.x;
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll 1
    for (int k = 0; k < turns; ++k) {
      sum += *at;
      at += turns;
    }
    at += threadIdx.x;
  }
  P[threadIdx.x] = sum;
}

}  // extern "C"
