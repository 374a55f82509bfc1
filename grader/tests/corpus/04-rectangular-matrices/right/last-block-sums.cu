// Lab 04, rectangular matrices: every `width` of lab 03 becomes j, k or l. The handout is
// README.md.
//
//   make grade LAB=04                                     grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it
//
// M is j x k, N is k x l, P is j x l, all row-major. Indices are size_t: j * k may exceed 2^31.

#include "check.h"

// Side of a tile and of a block: 256 threads, 8 warps. A warp is two rows of 16 threads.
constexpr int TILE_WIDTH = 16;

// How many pieces of size `piece` cover `whole`, the last of which may hang over.
__host__ __device__ int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// Two blocks share each tile of P, one for each half of the phases. The last of them to finish adds
// up what both have left in `parts`, in a fixed order.
__device__ unsigned tickets[1 << 16];  // per tile of P; always 0 between launches

__global__ void rect_kernel(const float* M, const float* N, float* P, float* parts, int j, int k, int l) {
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
  __shared__ bool is_last;

  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE_WIDTH + ty, col = blockIdx.x * TILE_WIDTH + tx;
  bool owns = row < j && col < l;
  int phases = ceil_div(k, TILE_WIDTH), half = ceil_div(phases, 2);
  int end = blockIdx.z == 0 ? half : phases;

  float sum = 0.0f;
  for (int ph = blockIdx.z == 0 ? 0 : half; ph < end; ++ph) {
    int m_col = ph * TILE_WIDTH + tx, n_row = ph * TILE_WIDTH + ty;
    Mds[ty][tx] = row < j && m_col < k ? M[size_t(row) * k + m_col] : 0.0f;
    Nds[ty][tx] = n_row < k && col < l ? N[size_t(n_row) * l + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE_WIDTH; ++i) sum += Mds[ty][i] * Nds[i][tx];
    __syncthreads();
  }

  size_t at = size_t(row) * l + col, size = size_t(j) * l;
  if (owns) parts[blockIdx.z * size + at] = sum;
  __threadfence();  // what is in parts is there before the ticket is
  __syncthreads();
  if (tx == 0 && ty == 0) {
    is_last = atomicInc(&tickets[blockIdx.y * gridDim.x + blockIdx.x], 1) == 1;
  }
  __syncthreads();
  if (is_last && owns) P[at] = parts[at] + parts[size + at];
}

// P = M x N. M, N, P: device pointers to j * k, k * l and j * l floats.
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  float* parts = nullptr;
  CHECK(cudaMalloc(&parts, 2 * sizeof(float) * j * l));
  dim3 block(TILE_WIDTH, TILE_WIDTH);
  dim3 grid(ceil_div(l, TILE_WIDTH), ceil_div(j, TILE_WIDTH), 2);
  rect_kernel<<<grid, block>>>(M, N, P, parts, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(parts));
}
