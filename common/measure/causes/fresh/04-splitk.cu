// k is cut in slices: each leaves a partial product in a workspace, a last kernel adds them up
#include <algorithm>

#include "check.h"

struct Sizes {
  int j, k, l;
};

struct Plan {
  int slices, depth;
  size_t stride;
};

constexpr int T = 16;

__global__ void partial(const float* m, const float* n, float* part, Sizes s, int begin, int end) {
  __shared__ float tm[T][T], tn[T][T];
  const int r = blockIdx.y * T + threadIdx.y, c = blockIdx.x * T + threadIdx.x;
  float sum = 0.0f;
  for (int z = begin; z < end; z += T) {
    const int mi = z + threadIdx.x, ni = z + threadIdx.y;
    tm[threadIdx.y][threadIdx.x] = r < s.j && mi < end ? m[size_t(r) * s.k + mi] : 0.0f;
    tn[threadIdx.y][threadIdx.x] = ni < end && c < s.l ? n[size_t(ni) * s.l + c] : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += tm[threadIdx.y][i] * tn[i][threadIdx.x];
    __syncthreads();
  }
  if (r < s.j && c < s.l) part[size_t(r) * s.l + c] = sum;
}

__global__ void add_slices(const float* parts, float* p, size_t stride, int slices) {
  const size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (at >= stride) return;
  float sum = 0.0f;
  for (int i = 0; i < slices; ++i) sum += parts[i * stride + at];
  p[at] = sum;
}

static Plan make_plan(const Sizes& s) {
  Plan plan;
  const int tiles = (s.k + T - 1) / T;
  plan.slices = std::min(2, tiles);
  plan.depth = (tiles + plan.slices - 1) / plan.slices * T;
  plan.stride = size_t(s.j) * s.l;
  return plan;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Sizes sizes{j, k, l};
  const Plan plan = make_plan(sizes);
  float* parts = nullptr;
  CHECK(cudaMalloc(&parts, plan.slices * plan.stride * sizeof(float)));
  const dim3 grid((l + T - 1) / T, (j + T - 1) / T), block(T, T);
  for (int i = 0; i < plan.slices; ++i) {
    const int begin = i * plan.depth, end = std::min(k, begin + plan.depth);
    partial<<<grid, block>>>(M, N, parts + i * plan.stride, sizes, begin, end);
    CHECK(cudaGetLastError());
  }
  const unsigned blocks = (plan.stride + 255) / 256;
  add_slices<<<blocks, 256>>>(parts, P, plan.stride, plan.slices);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(parts));
}
