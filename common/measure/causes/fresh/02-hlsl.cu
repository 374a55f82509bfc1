// compute shader style, "numthreads(32, 8, 1)": a group makes 32 x 32 texels, 4 per thread
#include "check.h"

#define GROUP 32
#define ROWS_PER_PASS 8
#define PASSES (GROUP / ROWS_PER_PASS)
#define GroupMemoryBarrierWithGroupSync() __syncthreads()

struct Texture2D {
  const float* data;
  unsigned pitch;
  __device__ float Load(uint2 xy) const { return data[xy.y * pitch + xy.x]; }
};

__global__ void CSMain(Texture2D left, Texture2D right, float* target, unsigned size) {
  __shared__ float gsLeft[GROUP][GROUP];
  __shared__ float gsRight[GROUP][GROUP];

  const uint2 gtid = make_uint2(threadIdx.x, threadIdx.y);
  const uint2 origin = make_uint2(blockIdx.x * GROUP, blockIdx.y * GROUP);

  float color[PASSES];
#pragma unroll
  for (unsigned p = 0; p < PASSES; ++p) color[p] = 0.0f;

  for (unsigned base = 0; base < size; base += GROUP) {
#pragma unroll
    for (unsigned p = 0; p < PASSES; ++p) {
      const unsigned y = gtid.y + p * ROWS_PER_PASS;
      gsLeft[y][gtid.x] = left.Load(make_uint2(base + gtid.x, origin.y + y));
      gsRight[y][gtid.x] = right.Load(make_uint2(origin.x + gtid.x, base + y));
    }
    GroupMemoryBarrierWithGroupSync();

    for (unsigned t = 0; t < GROUP; ++t) {
      const float r = gsRight[t][gtid.x];
#pragma unroll
      for (unsigned p = 0; p < PASSES; ++p) {
        color[p] = fmaf(gsLeft[gtid.y + p * ROWS_PER_PASS][t], r, color[p]);
      }
    }
    GroupMemoryBarrierWithGroupSync();
  }

#pragma unroll
  for (unsigned p = 0; p < PASSES; ++p) {
    const unsigned y = origin.y + gtid.y + p * ROWS_PER_PASS;
    target[y * size + origin.x + gtid.x] = color[p];
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const unsigned size = width;
  const Texture2D left{M, size}, right{N, size};
  const dim3 dispatch(size / GROUP, size / GROUP, 1);
  const dim3 numthreads(GROUP, ROWS_PER_PASS, 1);
  CSMain<<<dispatch, numthreads>>>(left, right, P, size);
  CHECK(cudaGetLastError());
}
