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

// P = M x N. Block (TILE_WIDTH, TILE_WIDTH); grid: x covers the columns of P, y covers its rows.
__global__ void rect_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  // 1024 bytes each. Two rows of 16 words fill the 32 banks, so a warp (two rows) never collides.
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];  // [ty][i]: 16 lanes read one word, a broadcast
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];  // [i][tx]: 16 lanes read 16 neighbouring banks

  int tx = threadIdx.x;                    // column within the tile, 0..TILE_WIDTH-1
  int ty = threadIdx.y;                    // row within the tile, 0..TILE_WIDTH-1
  int row = blockIdx.y * TILE_WIDTH + ty;  // row of M and P, 0..j-1 and beyond
  int col = blockIdx.x * TILE_WIDTH + tx;  // column of N and P, 0..l-1 and beyond
  int phases = 0;                          // how many pairs of tiles a block goes through

  // TODO(1): how many phases are there? (about 1 line)
  phases = ceil(k / TILE_WIDTH);  // FAULT
  // END TODO(1)

  float sum = 0.0f;
  for (int ph = 0; ph < phases; ++ph) {
    int m_col = ph * TILE_WIDTH + tx;  // column of M that this thread loads, 0..k-1 and beyond
    int n_row = ph * TILE_WIDTH + ty;  // row of N that this thread loads, 0..k-1 and beyond

    // TODO(2): fill Mds[ty][tx] and Nds[ty][tx], with 0 for what lies outside. (about 2 lines)
    Mds[ty][tx] = row < j && m_col < k ? M[size_t(row) * k + m_col] : 0.0f;
    Nds[ty][tx] = n_row < k && col < l ? N[size_t(n_row) * l + col] : 0.0f;
    // END TODO(2)
    __syncthreads();  // separates loading the tiles from using them

    for (int i = 0; i < TILE_WIDTH; ++i) {  // column of Mds, row of Nds
      sum += Mds[ty][i] * Nds[i][tx];
    }
    __syncthreads();  // separates using the tiles from overwriting them in the next phase
  }

  // TODO(3): store the sum if this thread owns an element of P. (about 1 line)
  if (row < j && col < l) P[size_t(row) * l + col] = sum;
  // END TODO(3)
}

// P = M x N. M, N, P: device pointers to j * k, k * l and j * l floats.
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 block(TILE_WIDTH, TILE_WIDTH);
  dim3 grid(1, 1);  // blocks along x, y
  // TODO(4): cover P with blocks. (about 2 lines)
  grid.x = ceil_div(l, TILE_WIDTH);
  grid.y = ceil_div(j, TILE_WIDTH);
  // END TODO(4)
  rect_kernel<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
