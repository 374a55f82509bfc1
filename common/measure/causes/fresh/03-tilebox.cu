#include "check.h"

// A tile that knows how to be filled from a matrix, with zeros around it.
template <int T>
struct TileBox {
  float cell[T][T + 1];

  __device__ void take(const float* matrix, int size, int r0, int c0) {
    const int r = r0 + threadIdx.y, c = c0 + threadIdx.x;
    const bool inside = r < size && c < size;
    float value = 0.0f;
    if (inside) value = matrix[r * size + c];
    cell[threadIdx.y][threadIdx.x] = value;
  }

  __device__ float at(int r, int c) const { return cell[r][c]; }
};

template <int T>
__global__ void boxes(const float* A, const float* B, float* C, int size) {
  __shared__ TileBox<T> a;
  __shared__ TileBox<T> b;
  const int top = blockIdx.y * T;
  const int left = blockIdx.x * T;
  float result = 0.0f;

  int remaining = size;
  for (int step = 0; remaining > 0; ++step) {
    a.take(A, size, top, step * T);
    b.take(B, size, step * T, left);
    __syncthreads();
    const int count = remaining < T ? remaining : T;
    for (int i = 0; i < count; ++i) {
      result += a.at(threadIdx.y, i) * b.at(i, threadIdx.x);
    }
    remaining -= T;
    __syncthreads();
  }

  const int y = top + threadIdx.y, x = left + threadIdx.x;
  if (y < size && x < size) C[y * size + x] = result;
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int side = 16;
  const int count = width / side + (width % side != 0);
  boxes<side><<<dim3(count, count), dim3(side, side)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
