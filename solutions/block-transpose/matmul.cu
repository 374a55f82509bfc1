// Exercise "block-transpose": each block turns its own square of a matrix round, in place. First
// without a barrier, then with one. The handout is README.md.
//
//   make grade LAB=block-transpose                        grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it

#include "check.h"

constexpr int T = 16;  // side of a block of turn_kernel

// The largest side with which a block turns its square without a barrier and nothing goes wrong.
constexpr int safe_side() {
  int side = 2;
  // TODO(1): for which sides is it right, whatever the order of the threads? (about 1 line)
  side = 1;
  // END TODO(1)
  return side;
}
constexpr int SAFE = safe_side();

// Block (SAFE, SAFE); width is a multiple of SAFE.
__global__ void hasty_kernel(float* A, int width) {
  __shared__ float tile[SAFE][SAFE];
  int row = blockIdx.y * SAFE + threadIdx.y, col = blockIdx.x * SAFE + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = A[row * width + col];
  A[row * width + col] = tile[threadIdx.x][threadIdx.y];
}

// Block (T, T); width is a multiple of T. A[row][col] of each square becomes A[col][row] of it.
__global__ void turn_kernel(float* A, int width) {
  // TODO(2): a tile in shared memory padded, to be read by columns. (about 1 line)
  __shared__ float tile[T][T + 1];
  // END TODO(2)
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  // TODO(3): load, wait for the block, store what the tile has at the turned place. (about 3 lines)
  tile[threadIdx.y][threadIdx.x] = A[row * width + col];
  __syncthreads();
  A[row * width + col] = tile[threadIdx.x][threadIdx.y];
  // END TODO(3)
}

// A: in blocks of T; S: in blocks of SAFE. Device pointers, width * width floats each.
void solve(float* A, float* S, int width) {
  turn_kernel<<<dim3(width / T, width / T), dim3(T, T)>>>(A, width);
  CHECK(cudaGetLastError());
  hasty_kernel<<<dim3(width / SAFE, width / SAFE), dim3(SAFE, SAFE)>>>(S, width);
  CHECK(cudaGetLastError());
}
