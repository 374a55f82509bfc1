// k in slices: each slice has its own partial product in one large scratch buffer, a second kernel adds them
#include "check.h"

namespace cfg {
enum { tile = 16, slices = 2 };
}

struct Shape {
  int rows, inner, columns;
  __host__ __device__ size_t outputs() const { return (size_t)rows * columns; }
  __host__ __device__ int slice() const { return (inner + cfg::slices - 1) / cfg::slices; }
};

__global__ void partialProducts(const float* a, const float* b, float* parts, Shape s) {
  __shared__ float left[cfg::tile][cfg::tile], right[cfg::tile][cfg::tile];
  const int x = blockIdx.x * cfg::tile + threadIdx.x, y = blockIdx.y * cfg::tile + threadIdx.y;
  const int begin = blockIdx.z * s.slice(), end = min(begin + s.slice(), s.inner);
  float sum = 0.0f;
  for (int at = begin; at < end; at += cfg::tile) {
    const int kx = at + threadIdx.x, ky = at + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = y < s.rows && kx < end ? a[(size_t)y * s.inner + kx] : 0.0f;
    right[threadIdx.y][threadIdx.x] = ky < end && x < s.columns ? b[(size_t)ky * s.columns + x] : 0.0f;
    __syncthreads();
    for (int i = 0; i < cfg::tile; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (y < s.rows && x < s.columns) parts[blockIdx.z * s.outputs() + (size_t)y * s.columns + x] = sum;
}

__global__ void addSlices(const float* parts, float* p, size_t outputs) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  float sum = 0.0f;
  for (int z = 0; z < cfg::slices; z++) sum += parts[z * outputs + i];
  p[i] = sum;
}

static dim3 gridFor(const Shape& s) {
  return dim3((s.columns + cfg::tile - 1) / cfg::tile, (s.rows + cfg::tile - 1) / cfg::tile, cfg::slices);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Shape s{j, k, l};
  float* parts = nullptr;
  cudaStream_t stream = 0;
  CHECK(cudaMallocAsync(&parts, cfg::slices * s.outputs() * sizeof(float), stream));
  partialProducts<<<gridFor(s), dim3(cfg::tile, cfg::tile), 0, stream>>>(M, N, parts, s);
  CHECK(cudaGetLastError());
  addSlices<<<(unsigned)((s.outputs() + 255) / 256), 256, 0, stream>>>(parts, P, s.outputs());
  CHECK(cudaGetLastError());
  CHECK(cudaFreeAsync(parts, stream));
}
