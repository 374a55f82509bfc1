// Kernels for sampling_test.cpp: regular ones whose blocks differ in known ways, and ones that no
// sample can speak for.

extern "C" {

// Interior, right and lower edge, corner; rows of odd length move the address phases.
__global__ void edges(float* P, int rows, int columns) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && col < columns) P[row * columns + col] += 1.0f;
}

// The flat index of one block, or of a few at the end.
__global__ void one_block(float* P, int which) {
  int flat = blockIdx.y * gridDim.x + blockIdx.x;
  int i = flat * blockDim.x + threadIdx.x;
  int times = flat == which ? 9 : 1;
  for (int k = 0; k < times; ++k) P[i] += 1.0f;
}

// Block indices reordered in groups of 8, as for better use of the L2.
__global__ void swizzled(float* P, int columns) {
  unsigned group = blockIdx.x / 8, within = blockIdx.x % 8;
  unsigned row = group * 4 + within / 2, col = (within % 2) * blockDim.x + threadIdx.x;
  P[row * columns + col] = 1.0f;
}

// More work from row to row.
__global__ void triangle(float* P) {
  float sum = 0;
  for (unsigned k = 0; k < blockIdx.y; ++k) sum += P[k * 32 + threadIdx.x];
  P[(blockIdx.y * gridDim.x + blockIdx.x) * 32 + threadIdx.x] = sum;
}

// Blocks take every gridDim.x-th tile.
__global__ void persistent(float* P, int tiles) {
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) P[tile * 48 + threadIdx.x] = 1.0f;
}

// An index that leaves the range of int in the later blocks.
__global__ void overflowing(float* P) {
  int far = int(blockIdx.x * 0x20000000u);
  if (far < 0x10000000) P[blockIdx.x * 32 + threadIdx.x] = 1.0f;
}

// Division of a signed index, which the compiler rounds towards zero.
__global__ void divided(float2* P, int n) {
  int row = blockIdx.y, pair = blockIdx.x * blockDim.x + threadIdx.x;
  P[(row * n) / 2 + pair] = make_float2(row, pair);
}

// Work by the number of bits set in blockIdx.
__global__ void bits(float* P) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < __popc(blockIdx.x); ++k) P[i] += 1.0f;  // @bits
}

// A product of two block indices in the address.
__global__ void product(float* P) { P[blockIdx.x * blockIdx.y * 3 + threadIdx.x] = 1.0f; }

// As many turns as an element says.
__global__ void data_loop(const float* M, float* P) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < int(M[i]); ++k) sum += M[k];
  P[i] = sum;
}

// Reads where another array says.
__global__ void gather(const int* index, const float* M, float* P) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  P[i] = M[index[i]];
}

// The same with the index kept in shared memory.
__global__ void through_shared(const float* M, float* P) {
  __shared__ int kept[32];
  kept[threadIdx.x] = blockIdx.x * 32 + (threadIdx.x ^ (blockIdx.x & 7));
  __syncthreads();
  P[blockIdx.x * 32 + threadIdx.x] = M[kept[31 - threadIdx.x]];
}

// Stores what is positive only.
__global__ void data_guard(const float* M, float* P) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (M[i] > 0) P[i] = M[i];
}

__device__ __noinline__ float far_away(const float* M, unsigned i) {
  return M[i * (i & 1 ? 1 : 2)];
}
__global__ void calls(const float* M, float* P) {
  P[blockIdx.x * 32 + threadIdx.x] = far_away(M, blockIdx.x) + threadIdx.x;
}

// Work by a counter that all blocks share.
__global__ void queue(int* next, float* P) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = atomicAdd(next, 1);
  __syncthreads();
  for (int k = 0; k <= (mine & 3); ++k) P[blockIdx.x * 32 + threadIdx.x] += 1.0f;
}

// Out of bounds in the last block.
__global__ void past_the_end(float* P) { P[blockIdx.x * 32 + threadIdx.x + 1] = 1.0f; }

}  // extern "C"
