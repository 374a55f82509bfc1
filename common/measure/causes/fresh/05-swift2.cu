// Lab 05: 256 threads in one row, each an 8 x 4 patch of a 128 x 64 part of P.
#include "check.h"

namespace layout {
constexpr int threads = 256;
constexpr int height = 128, width = 64, depth = 8;
constexpr int down = 8, across = 4;
constexpr int lanesX = width / across;   // 16
constexpr int lanesY = height / down;    // 16
}  // namespace layout
using namespace layout;

struct Patch {
  float value[down][across];
  __device__ void clear() {
    for (auto& line : value)
      for (auto& v : line) v = 0;
  }
  __device__ void accumulate(const float (&l)[down], const float (&r)[across]) {
#pragma unroll
    for (int y = 0; y < down; y++)
#pragma unroll
      for (int x = 0; x < across; x++) value[y][x] += l[y] * r[x];
  }
};

__global__ void patchKernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float lhs[depth][height];
  __shared__ float rhs[depth][width];

  const int id = threadIdx.x;
  const int px = id % lanesX, py = id / lanesX;
  const int top = blockIdx.y * height, left = blockIdx.x * width;

  Patch patch;
  patch.clear();

  for (int start = 0; start < k; start += depth) {
    for (int n = 0; n < height * depth / threads; n++) {
      const int cell = n * threads + id;
      const int y = cell / depth, z = cell % depth;
      const bool exists = top + y < j && start + z < k;
      lhs[z][y] = exists ? M[size_t(top + y) * k + start + z] : 0;
    }
    for (int n = 0; n < width * depth / threads; n++) {
      const int cell = n * threads + id;
      const int z = cell / width, x = cell % width;
      const bool exists = start + z < k && left + x < l;
      rhs[z][x] = exists ? N[size_t(start + z) * l + left + x] : 0;
    }
    __syncthreads();

#pragma unroll
    for (int z = 0; z < depth; z++) {
      float a[down], b[across];
      for (int y = 0; y < down; y++) a[y] = lhs[z][py * down + y];
      for (int x = 0; x < across; x++) b[x] = rhs[z][px + x * lanesX];
      patch.accumulate(a, b);
    }
    __syncthreads();
  }

  for (int y = 0; y < down; y++) {
    const int row = top + py * down + y;
    if (row >= j) break;
    for (int x = 0; x < across; x++) {
      const int col = left + px + x * lanesX;
      if (col < l) P[size_t(row) * l + col] = patch.value[y][x];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + width - 1) / width, (j + height - 1) / height);
  patchKernel<<<grid, threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
