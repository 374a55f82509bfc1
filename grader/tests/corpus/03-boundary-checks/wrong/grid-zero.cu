// Fault: the grid has no blocks for a width below a tile

#include "check.h"

// Side of a tile and of a block: 256 threads, 8 warps. A warp is two rows of 16 threads.
constexpr int TILE_WIDTH = 16;

// How many pieces of size `piece` cover `whole`, the last of which may hang over.
__host__ __device__ int ceil_div(int whole, int piece) {
  int count = whole / piece;  // rounded down
  if (count * piece < whole) ++count;
  return count;
}

// P = M x N. Block (TILE_WIDTH, TILE_WIDTH); grid: x covers the columns of P, y covers its rows.
__global__ void checked_kernel(const float* M, const float* N, float* P, int width) {
  // 1024 bytes each. Two rows of 16 words fill the 32 banks, so a warp (two rows) never collides.
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];  // [ty][k]: 16 lanes read one word, a broadcast
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];  // [k][tx]: 16 lanes read 16 neighbouring banks

  int tx = threadIdx.x;                    // column within the tile, 0..TILE_WIDTH-1
  int ty = threadIdx.y;                    // row within the tile, 0..TILE_WIDTH-1
  int row = blockIdx.y * TILE_WIDTH + ty;  // row of M and P, 0..width-1 and beyond
  int col = blockIdx.x * TILE_WIDTH + tx;  // column of N and P, 0..width-1 and beyond

  float sum = 0.0f;
  for (int ph = 0; ph < ceil_div(width, TILE_WIDTH); ++ph) {  // phase: which pair of tiles
    int m_col = ph * TILE_WIDTH + tx;  // column of M that this thread loads, 0..width-1 and beyond
    int n_row = ph * TILE_WIDTH + ty;  // row of N that this thread loads, 0..width-1 and beyond

    Mds[ty][tx] = row < width && m_col < width ? M[row * width + m_col] : 0.0f;

    Nds[ty][tx] = n_row < width && col < width ? N[n_row * width + col] : 0.0f;
    __syncthreads();  // separates loading the tiles from using them

    for (int k = 0; k < TILE_WIDTH; ++k) {  // column of Mds, row of Nds
      sum += Mds[ty][k] * Nds[k][tx];
    }
    __syncthreads();  // separates using the tiles from overwriting them in the next phase
  }

  if (row < width && col < width) P[row * width + col] = sum;
}

// P = M x N. M, N, P: device pointers, width * width floats each.
void solve(const float* M, const float* N, float* P, int width) {
  dim3 block(TILE_WIDTH, TILE_WIDTH);
  dim3 grid(width / TILE_WIDTH, width / TILE_WIDTH);
  checked_kernel<<<grid, block>>>(M, N, P, width);  // FAULT
  CHECK(cudaGetLastError());
}
