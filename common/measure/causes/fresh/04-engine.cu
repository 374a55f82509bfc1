// Lab 04: everything the kernel must know comes in one struct, like the constants of a shader.
// Workgroups are numbered in one dimension; a group of 128 lanes computes 16 x 16 pixels.
#include "check.h"

typedef unsigned int u32;
typedef unsigned long long u64;

struct DispatchArgs {
  const float* src0;
  const float* src1;
  float* dst;
  u32 h, depth, w;  // dst is h x w
  u32 groupsX;
};

static const u32 GROUP = 16;
static const u32 LANES = 128;
static const u32 PER_LANE = GROUP * GROUP / LANES;

__device__ float sampleOrZero(const float* img, u32 y, u32 x, u32 h, u32 w) {
  float texel = 0.0f;
  if (y < h && x < w) texel = img[(u64)y * w + x];
  return texel;
}

__global__ void csMatmul(DispatchArgs args) {
  __shared__ float gs0[GROUP * GROUP];
  __shared__ float gs1[GROUP * GROUP];

  const u32 groupX = blockIdx.x % args.groupsX;
  const u32 groupY = blockIdx.x / args.groupsX;
  const u32 x = threadIdx.x & (GROUP - 1);
  const u32 y = threadIdx.x >> 4;  // 0..7
  const u32 px = groupX * GROUP + x;
  const u32 py = groupY * GROUP + y;
  const u32 half = GROUP / PER_LANE;

  float color[PER_LANE] = {0.0f, 0.0f};
  for (u32 z = 0; z < args.depth; z += GROUP) {
    for (u32 p = 0; p < PER_LANE; ++p) {
      const u32 ly = y + p * half;
      gs0[ly * GROUP + x] = sampleOrZero(args.src0, py + p * half, z + x, args.h, args.depth);
      gs1[ly * GROUP + x] = sampleOrZero(args.src1, z + ly, px, args.depth, args.w);
    }
    __syncthreads();
    for (u32 i = 0; i < GROUP; ++i) {
      const float s1 = gs1[i * GROUP + x];
      color[0] += gs0[y * GROUP + i] * s1;
      color[1] += gs0[(y + half) * GROUP + i] * s1;
    }
    __syncthreads();
  }

  for (u32 p = 0; p < PER_LANE; ++p) {
    const u32 oy = py + p * half;
    if (oy < args.h && px < args.w) args.dst[(u64)oy * args.w + px] = color[p];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  DispatchArgs args = {};
  args.src0 = M;
  args.src1 = N;
  args.dst = P;
  args.h = j;
  args.depth = k;
  args.w = l;
  args.groupsX = (l + GROUP - 1) / GROUP;
  const u32 groupsY = (j + GROUP - 1) / GROUP;

  void* params[] = {&args};
  CHECK(cudaLaunchKernel((const void*)csMatmul, dim3(args.groupsX * groupsY), dim3(LANES), params, 0, 0));
}
