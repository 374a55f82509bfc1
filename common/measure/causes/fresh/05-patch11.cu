// 8 x 8 results per thread, 64 threads in one dimension
#include "check.h"

struct Shape {
  int j, k, l;
};

constexpr int kBlock = 64;                    // square part of P
constexpr int kDepth = 8;                     // of a step
constexpr int kPatch = 8;                     // square patch of a thread
constexpr int kPerSide = kBlock / kPatch;     // 8
constexpr int kThreads = kPerSide * kPerSide; // 64

__device__ void fill_left(float (*tile)[kBlock], const float* m, Shape s, int row0, int depth0) {
  // a thread takes a column of the tile and walks down the rows
  const int d = threadIdx.x % kDepth;
  for (int r = threadIdx.x / kDepth; r < kBlock; r += kThreads / kDepth) {
    float v = 0.f;
    if (row0 + r < s.j && depth0 + d < s.k) v = m[(row0 + r) * size_t(s.k) + depth0 + d];
    tile[d][r] = v;
  }
}

__device__ void fill_right(float (*tile)[kBlock], const float* n, Shape s, int depth0, int col0) {
  // 64 threads: one row of the tile at a time
  const int c = threadIdx.x;
  for (int d = 0; d < kDepth; ++d) {
    float v = 0.f;
    if (depth0 + d < s.k && col0 + c < s.l) v = n[(depth0 + d) * size_t(s.l) + col0 + c];
    tile[d][c] = v;
  }
}

__global__ void patch_kernel(const float* m, const float* n, float* p, Shape s) {
  __shared__ float left[kDepth][kBlock];
  __shared__ float right[kDepth][kBlock];

  const int px = threadIdx.x % kPerSide;
  const int py = threadIdx.x / kPerSide;
  const int row0 = blockIdx.y * kBlock;
  const int col0 = blockIdx.x * kBlock;

  float acc[kPatch][kPatch];
  for (auto& line : acc)
    for (float& a : line) a = 0.f;

  for (int depth0 = 0; depth0 < s.k; depth0 += kDepth) {
    fill_left(left, m, s, row0, depth0);
    fill_right(right, n, s, depth0, col0);
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) {
      float a[kPatch], b[kPatch];
      for (int q = 0; q < kPatch; ++q) {
        a[q] = left[d][py * kPatch + q];
        b[q] = right[d][px + q * kPerSide];
      }
      for (int q = 0; q < kPatch * kPatch; ++q) {
        acc[q / kPatch][q % kPatch] += a[q / kPatch] * b[q % kPatch];
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < kPatch; ++r) {
    const int row = row0 + py * kPatch + r;
    if (row >= s.j) break;
    for (int c = 0; c < kPatch; ++c) {
      const int col = col0 + px + c * kPerSide;
      if (col < s.l) p[size_t(row) * s.l + col] = acc[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Shape s{j, k, l};
  auto cover = [](int n) { return unsigned((n + kBlock - 1) / kBlock); };
  patch_kernel<<<dim3(cover(l), cover(j)), kThreads>>>(M, N, P, s);
  CHECK(cudaGetLastError());
}
