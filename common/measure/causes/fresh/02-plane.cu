#include <cuda_runtime.h>

// Flat blocks, one piece of dynamic shared memory that holds both tiles.
#define EDGE 32
#define AREA (EDGE * EDGE)
#define PUT(tile, r, c) tile[(r) * EDGE + (c)]
#define GET(matrix, r, c) matrix[(r) * dim + (c)]

extern __shared__ float plane[];

__global__ void planes(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                       const int dim) {
  float* const tileA = plane;
  float* const tileB = plane + AREA;
  const unsigned id = threadIdx.x;
  const unsigned down = id / EDGE, across = id % EDGE;
  const unsigned steps = dim / EDGE;
  const unsigned R = (blockIdx.x / steps) * EDGE + down;  // blocks are numbered row by row
  const unsigned S = (blockIdx.x % steps) * EDGE + across;
  float dot = 0.f;
  for (unsigned z = 0; z != steps; z++) {
    PUT(tileA, down, across) = GET(A, R, z * EDGE + across);
    PUT(tileB, down, across) = GET(B, z * EDGE + down, S);
    __syncthreads();
#pragma unroll 8
    for (unsigned q = 0; q < EDGE; q++) dot = fmaf(PUT(tileA, down, q), PUT(tileB, q, across), dot);
    __syncthreads();
  }
  GET(C, R, S) = dot;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int side = width / EDGE;
  planes<<<side * side, AREA, 2 * AREA * sizeof(float)>>>(M, N, P, width);
}
