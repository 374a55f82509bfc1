// Style: 56 KB of dynamic shared memory, asked for: tiles 224 deep

#include "check.h"

constexpr int T = 32;       // side of the block's part of P
constexpr int DEPTH = 224;  // columns of M and rows of N at a time; the last phase may be shallower

__global__ void tiled_kernel(const float* M, const float* N, float* P, int width) {
  extern __shared__ float shared[];
  float* Mds = shared;              // [T][DEPTH]
  float* Nds = shared + T * DEPTH;  // [DEPTH][T]
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0.0f;
  for (int first = 0; first < width; first += DEPTH) {
    int depth = min(DEPTH, width - first);
    for (int k = 0; k < depth; k += T) {
      Mds[ty * DEPTH + k + tx] = M[row * width + first + k + tx];
      Nds[(k + ty) * T + tx] = N[(first + k + ty) * width + col];
    }
    __syncthreads();
    for (int k = 0; k < depth; ++k) sum += Mds[ty * DEPTH + k] * Nds[k * T + tx];
    __syncthreads();
  }
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  int bytes = 2 * T * DEPTH * sizeof(float);
  CHECK(cudaFuncSetAttribute(tiled_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  tiled_kernel<<<dim3(width / T, width / T), dim3(T, T), bytes>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
