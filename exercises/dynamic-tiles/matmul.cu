// Exercise "dynamic-tiles": the tiled product of lab 02 with a tile whose size is chosen when the
// program runs, by what the device has. The handout is README.md.
//
//   make grade LAB=dynamic-tiles                          grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it
//
// M, N and P are width x width, row-major; width is a multiple of 32.

#include "check.h"

// The largest power of two T for which a block of T x T threads and two tiles of T x T floats fit.
int tile_side() {
  int side = 1;
  // TODO(1): ask the device, and double side while twice as much still fits. (about 6 lines)
  // END TODO(1)
  return side;
}

// P = M x N. Block (T, T), and 2 * T * T floats of dynamic shared memory.
__global__ void tiled_kernel(const float* M, const float* N, float* P, int width, int T) {
  extern __shared__ float tiles[];
  float* Mds = tiles;  // element [ty][k] stands at ty * T + k
  float* Nds = tiles;
  // TODO(2): Nds begins behind Mds. (about 1 line)
  // END TODO(2)

  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0.0f;
  for (int ph = 0; ph < width / T; ++ph) {
    // TODO(3): load, wait, use, wait: lab 02 with one index in place of two. (about 5 lines)
    // END TODO(3)
  }
  P[row * width + col] = sum;
}

// P = M x N. M, N, P: device pointers, width * width floats each.
void solve(const float* M, const float* N, float* P, int width) {
  int T = tile_side();
  dim3 block(T, T), grid(width / T, width / T);
  // TODO(4): launch, with the bytes of both tiles as third number of the launch. (about 1 line)
  // END TODO(4)
  CHECK(cudaGetLastError());
}
