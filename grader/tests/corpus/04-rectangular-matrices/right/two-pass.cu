// Style: k in two halves: two launches in a stream, the second adds

#include "check.h"

constexpr int T = 16;

// Adds the products of columns from..to-1 of M; with First, P is not read.
template <bool First>
__global__ void part(const float* M, const float* N, float* P, int j, int k, int l, int from,
                     int to) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  bool owner = row < j && col < l;
  float sum = 0.0f;
  if (!First && owner) sum = P[size_t(row) * l + col];
  for (int i = from; i < to; i += T) {
    Mds[ty][tx] = row < j && i + tx < to ? M[size_t(row) * k + i + tx] : 0.0f;
    Nds[ty][tx] = i + ty < to && col < l ? N[size_t(i + ty) * l + col] : 0.0f;
    __syncthreads();
    for (int q = 0; q < T; ++q) sum += Mds[ty][q] * Nds[q][tx];
    __syncthreads();
  }
  if (owner) P[size_t(row) * l + col] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  dim3 block(T, T), grid((l + T - 1) / T, (j + T - 1) / T);
  int middle = k / 2 / T * T;
  part<true><<<grid, block, 0, stream>>>(M, N, P, j, k, l, 0, middle);
  part<false><<<grid, block, 0, stream>>>(M, N, P, j, k, l, middle, k);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
}
