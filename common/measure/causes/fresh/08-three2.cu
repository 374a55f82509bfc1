// Lab 08 with three stages: two groups of copies are always under way.
#include <cuda_pipeline.h>

#include "check.h"

constexpr int kBlock = 64, kDeep = 16, kStages = 3, kPer = 4;
constexpr int kSide = kBlock / kPer;

struct alignas(16) Stage {
  float a[kBlock][kDeep];
  float b[kDeep][kBlock];
};

struct Mat {
  const float* ptr;
  int rows, cols;
};

__device__ inline void bring(float* dst, Mat src, int r, int c) {
  const float* from = src.ptr + static_cast<size_t>(r) * src.cols + c;
  if (src.cols % 4 == 0) {
    const bool in = r < src.rows && c < src.cols;
    __pipeline_memcpy_async(dst, in ? from : src.ptr, 16, in ? 0 : 16);
    return;
  }
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const bool in = r < src.rows && c + w < src.cols;
    __pipeline_memcpy_async(dst + w, in ? from + w : src.ptr, 4, in ? 0 : 4);
  }
}

__device__ void request(Stage& st, Mat m, Mat n, int top, int left, int k0, int id) {
  const int ar = id / (kDeep / 4), ac = id % (kDeep / 4) * 4;
  const int br = id / (kBlock / 4), bc = id % (kBlock / 4) * 4;
  bring(&st.a[ar][ac], m, top + ar, k0 + ac);
  bring(&st.b[br][bc], n, k0 + br, left + bc);
}

__device__ void consume(const Stage& st, float4 (&acc)[kPer], int x, int y) {
#pragma unroll
  for (int i = 0; i < kDeep; i += 4) {
    float4 b[4];
#pragma unroll
    for (int s = 0; s < 4; ++s) b[s] = *reinterpret_cast<const float4*>(&st.b[i + s][4 * x]);
#pragma unroll
    for (int r = 0; r < kPer; ++r) {
      const float4 a4 = *reinterpret_cast<const float4*>(&st.a[y + kSide * r][i]);
      const float a[4] = {a4.x, a4.y, a4.z, a4.w};
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        acc[r].x += a[s] * b[s].x;
        acc[r].y += a[s] * b[s].y;
        acc[r].z += a[s] * b[s].z;
        acc[r].w += a[s] * b[s].w;
      }
    }
  }
}

__global__ void three_stages(Mat m, Mat n, float* P) {
  __shared__ Stage ring[kStages];
  const int id = threadIdx.x, x = id % kSide, y = id / kSide;
  const int top = blockIdx.y * kBlock, left = blockIdx.x * kBlock;
  const int phases = (m.cols + kDeep - 1) / kDeep;
  float4 acc[kPer] = {};

  int next = 0;  // phase that is asked for next
  for (; next < kStages - 1; ++next) {
    if (next < phases) request(ring[next], m, n, top, left, next * kDeep, id);
    __pipeline_commit();
  }
  for (int ph = 0; ph < phases; ++ph, ++next) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();
    if (next < phases) request(ring[next % kStages], m, n, top, left, next * kDeep, id);
    __pipeline_commit();  // empty at the end: the count of groups stays right
    consume(ring[ph % kStages], acc, x, y);
  }

  for (int r = 0; r < kPer; ++r) {
    const int row = top + y + kSide * r, col = left + 4 * x;
    if (row >= m.rows) return;
    float* to = P + static_cast<size_t>(row) * n.cols + col;
    if (n.cols % 4 == 0) {
      if (col < n.cols) *reinterpret_cast<float4*>(to) = acc[r];
    } else {
      if (col < n.cols) to[0] = acc[r].x;
      if (col + 1 < n.cols) to[1] = acc[r].y;
      if (col + 2 < n.cols) to[2] = acc[r].z;
      if (col + 3 < n.cols) to[3] = acc[r].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + kBlock - 1) / kBlock, (j + kBlock - 1) / kBlock);
  three_stages<<<grid, kSide * kSide>>>(Mat{M, j, k}, Mat{N, k, l}, P);
  CHECK(cudaGetLastError());
}
