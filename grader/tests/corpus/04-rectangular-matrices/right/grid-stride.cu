// Style: a small fixed grid whose blocks take tile after tile of P

#include "check.h"

constexpr int T = 16;

struct Shape {
  int j, k, l;
  __host__ __device__ int tiles_down() const { return (j + T - 1) / T; }
  __host__ __device__ int tiles_across() const { return (l + T - 1) / T; }
};

__global__ void rect_kernel(const float* M, const float* N, float* P, Shape s) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  for (int by = blockIdx.y; by < s.tiles_down(); by += gridDim.y) {
    for (int bx = blockIdx.x; bx < s.tiles_across(); bx += gridDim.x) {
      int row = by * T + ty, col = bx * T + tx;
      float sum = 0.0f;
      for (int i = 0; i < s.k; i += T) {
        Mds[ty][tx] = row < s.j && i + tx < s.k ? M[size_t(row) * s.k + i + tx] : 0.0f;
        Nds[ty][tx] = i + ty < s.k && col < s.l ? N[size_t(i + ty) * s.l + col] : 0.0f;
        __syncthreads();
        for (int q = 0; q < T; ++q) sum += Mds[ty][q] * Nds[q][tx];
        __syncthreads();
      }
      if (row < s.j && col < s.l) P[size_t(row) * s.l + col] = sum;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  rect_kernel<<<dim3(48, 44), dim3(T, T)>>>(M, N, P, Shape{j, k, l});
  CHECK(cudaGetLastError());
}
