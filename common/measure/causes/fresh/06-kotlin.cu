// Lab 06: one shared array for both tiles, the padded one first.
#include "check.h"

namespace tile {
constexpr int rows = 64, cols = 64, depth = 16;
constexpr int pitchM = rows + 6;  // 70: 6 i runs through the even banks
constexpr int pitchN = cols;
constexpr int sizeM = depth * pitchM;
constexpr int sizeN = depth * pitchN;
}  // namespace tile
constexpr int SIDE = 16;  // of a block of threads
constexpr int PER = 4;    // results per thread, each way
constexpr int ALL = SIDE * SIDE;

template <typename Body>
__device__ __forceinline__ void repeat(Body body) {
#pragma unroll
  for (int it = 0; it < PER; ++it) body(it);
}

__device__ inline float orZero(bool there, const float* a, size_t index) {
  return there ? a[index] : 0.0f;
}

__global__ void paddedKernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float memory[tile::sizeM + tile::sizeN];
  float* const tm = memory;
  float* const tn = memory + tile::sizeM;

  const int tx = threadIdx.x, ty = threadIdx.y, id = tx + SIDE * ty;
  const int top = blockIdx.y * tile::rows, left = blockIdx.x * tile::cols;
  float sum[PER][PER] = {};

  for (int k0 = 0; k0 < k; k0 += tile::depth) {
    repeat([&](int it) {  // 4 * 256 elements of each tile
      const int e = it * ALL + id;
      const int r = e / tile::depth, i = e % tile::depth;
      const bool there = top + r < j && k0 + i < k;
      tm[i * tile::pitchM + r] = orZero(there, M, size_t(top + r) * k + (k0 + i));
    });
    repeat([&](int it) {
      const int e = it * ALL + id;
      const int i = e / tile::cols, c = e % tile::cols;
      const bool there = k0 + i < k && left + c < l;
      tn[i * tile::pitchN + c] = orZero(there, N, size_t(k0 + i) * l + (left + c));
    });
    __syncthreads();

    for (int i = 0; i < tile::depth; ++i) {
      const float* mRow = tm + i * tile::pitchM + ty * PER;
      const float* nRow = tn + i * tile::pitchN + tx;
      float m[PER], n[PER];
      repeat([&](int it) { m[it] = mRow[it]; });
      repeat([&](int it) { n[it] = nRow[it * SIDE]; });
      repeat([&](int r) { repeat([&](int c) { sum[r][c] += m[r] * n[c]; }); });
    }
    __syncthreads();
  }

  repeat([&](int r) {
    const int row = top + ty * PER + r;
    if (row < j) {
      float* out = P + size_t(row) * l;
      repeat([&](int c) {
        const int col = left + tx + c * SIDE;
        if (col < l) out[col] = sum[r][c];
      });
    }
  });
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid(l / tile::cols + (l % tile::cols != 0), j / tile::rows + (j % tile::rows != 0));
  paddedKernel<<<grid, dim3(SIDE, SIDE)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
