// basti: ring of three stages in dynamic shared memory
#include "check.h"
#include "copy_async.h"

namespace ring {
constexpr int kStages = 3;
constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kMWords = kTile * kDepth;
constexpr int kNWords = kDepth * kTile;
constexpr int kStageWords = kMWords + kNWords;
constexpr size_t kBytes = kStages * kStageWords * sizeof(float);
}  // namespace ring

__device__ __forceinline__ float4& quad(float* p) { return reinterpret_cast<float4*>(p)[0]; }

__device__ void bring(float* dst, const float* mat, int height, int width, int y, int x) {
  const float* src = mat + static_cast<size_t>(y) * width + x;
  const bool row_ok = y < height;
  if (width % 4) {
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const bool ok = row_ok && x + w < width;
      copy_async<4>(dst + w, ok ? src + w : mat, ok);
    }
  } else {
    const bool ok = row_ok && x < width;
    copy_async<16>(dst, ok ? src : mat, ok);
  }
}

__global__ void __launch_bounds__(256)
    ring_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  using namespace ring;
  extern __shared__ __align__(16) float memory[];

  const int tid = threadIdx.y * blockDim.x + threadIdx.x;
  const int top = blockIdx.y * kTile;
  const int left = blockIdx.x * kTile;
  const int phases = (k + kDepth - 1) / kDepth;

  auto request = [&](int phase) {
    if (phase < phases) {
      float* ms = memory + phase % kStages * kStageWords;
      float* ns = ms + kMWords;
      const int z = phase * kDepth;
      bring(ms + 4 * tid, M, j, k, top + tid / 4, z + tid % 4 * 4);
      bring(ns + 4 * tid, N, k, l, z + tid / 16, left + tid % 16 * 4);
    }
    __pipeline_commit();  // also an empty group, so that the count stays right
  };

  alignas(16) float out[4][4] = {};
  request(0);
  request(1);

  for (int phase = 0; phase < phases; ++phase) {
    __pipeline_wait_prior(1);
    __syncthreads();
    request(phase + 2);

    float* ms = memory + phase % kStages * kStageWords;
    float* ns = ms + kMWords;
    for (int z = 0; z < kDepth; z += 4) {
      float4 m[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) m[r] = quad(ms + (threadIdx.y + 16 * r) * kDepth + z);
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float4 n = quad(ns + (z + s) * kTile + 4 * threadIdx.x);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const float f = s == 0 ? m[r].x : s == 1 ? m[r].y : s == 2 ? m[r].z : m[r].w;
          out[r][0] += f * n.x;
          out[r][1] += f * n.y;
          out[r][2] += f * n.z;
          out[r][3] += f * n.w;
        }
      }
    }
  }

  const int x = left + 4 * threadIdx.x;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int y = top + threadIdx.y + 16 * r;
    if (y >= j) break;
    float* p = P + static_cast<size_t>(y) * l + x;
    if (l % 4 == 0) {
      if (x < l) quad(p) = quad(out[r]);
    } else {
      for (int c = 0; c < 4 && x + c < l; ++c) p[c] = out[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const unsigned gx = (l + ring::kTile - 1) / ring::kTile;
  const unsigned gy = (j + ring::kTile - 1) / ring::kTile;
  CHECK(cudaFuncSetAttribute(ring_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             int(ring::kBytes)));
  ring_kernel<<<dim3(gx, gy), dim3(16, 16), ring::kBytes>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
