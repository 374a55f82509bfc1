// lab 06 - padded tile, everything in one flat arena of dynamic shared memory
#include "check.h"

using u32 = unsigned int;

struct Params {
  const float* m;
  const float* n;
  float* p;
  int j, k, l;
};

static constexpr u32 kTile = 64;   // of P, square
static constexpr u32 kDepth = 16;  // of a slice
static constexpr u32 kPitch = kTile + 2;
static constexpr u32 kPer = 4;
static constexpr u32 kLanes = kTile / kPer;
static constexpr u32 kThreads = kLanes * kLanes;
static constexpr u32 kSliceM = kDepth * kPitch;
static constexpr u32 kSliceN = kDepth * kTile;

__global__ void MulKernel(Params a) {
  extern __shared__ float arena[];
  float* sliceM = arena;
  float* sliceN = arena + kSliceM;

  const u32 tid = threadIdx.x;
  const u32 x = tid & (kLanes - 1);
  const u32 y = tid / kLanes;
  const u32 originY = blockIdx.y * kTile;
  const u32 originX = blockIdx.x * kTile;
  const u32 J = a.j, K = a.k, L = a.l;

  float acc[kPer][kPer] = {};
  for (u32 z = 0; z < K; z += kDepth) {
#pragma unroll
    for (u32 n = 0; n < kTile * kDepth / kThreads; ++n) {
      const u32 e = n * kThreads + tid;
      {  // M goes in transposed
        const u32 r = e / kDepth, i = e % kDepth;
        const bool ok = originY + r < J && z + i < K;
        sliceM[i * kPitch + r] = ok ? a.m[size_t(originY + r) * K + z + i] : 0.f;
      }
      {
        const u32 i = e / kTile, c = e % kTile;
        const bool ok = z + i < K && originX + c < L;
        sliceN[i * kTile + c] = ok ? a.n[size_t(z + i) * L + originX + c] : 0.f;
      }
    }
    __syncthreads();

    const float* rowM = sliceM + y * kPer;
    const float* rowN = sliceN + x;
    for (u32 i = 0; i < kDepth; ++i) {
      float rm[kPer], rn[kPer];
#pragma unroll
      for (u32 q = 0; q < kPer; ++q) rm[q] = rowM[q];
#pragma unroll
      for (u32 q = 0; q < kPer; ++q) rn[q] = rowN[q * kLanes];
#pragma unroll
      for (u32 q = 0; q < kPer; ++q)
#pragma unroll
        for (u32 w = 0; w < kPer; ++w) acc[q][w] += rm[q] * rn[w];
      rowM += kPitch;
      rowN += kTile;
    }
    __syncthreads();
  }

#pragma unroll
  for (u32 q = 0; q < kPer; ++q)
#pragma unroll
    for (u32 w = 0; w < kPer; ++w) {
      const u32 row = originY + y * kPer + q;
      const u32 col = originX + x + w * kLanes;
      if (row < J && col < L) a.p[size_t(row) * L + col] = acc[q][w];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Params args{M, N, P, j, k, l};
  const dim3 grid((l + kTile - 1) / kTile, (j + kTile - 1) / kTile);
  const size_t arenaBytes = (kSliceM + kSliceN) * sizeof(float);
  MulKernel<<<grid, kThreads, arenaBytes>>>(args);
  CHECK(cudaGetLastError());
}
