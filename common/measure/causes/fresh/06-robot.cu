// Lab 06: no transposition, so no column stores. Rows of a thread are 16 apart.
#include "check.h"

#include <array>

constexpr int kTile = 64;
constexpr int kDepth = 16;
constexpr int kGrip = 4;              // results of a thread along each axis
constexpr int kSpan = kTile / kGrip;  // distance between them: 16

struct Pose {
  int y, x;
};

struct Problem {
  const float* m;
  const float* n;
  float* p;
  int j, k, l;
};

__global__ void manipulate(Problem w) {
  __shared__ float arm[kTile][kDepth];
  __shared__ float rail[kDepth][kTile];

  const Pose self{int(threadIdx.y), int(threadIdx.x)};
  const Pose base{int(blockIdx.y) * kTile, int(blockIdx.x) * kTile};
  float state[kGrip][kGrip] = {};

  auto sense_arm = [&](int k0) {
    for (int g = 0; g < kGrip; ++g) {
      const int r = self.y + g * kSpan;
      const int y = base.y + r, z = k0 + self.x;
      arm[r][self.x] = y < w.j && z < w.k ? w.m[size_t(y) * w.k + z] : 0.0f;
    }
  };
  auto sense_rail = [&](int k0) {
    const int id = self.y * kSpan + self.x;
    const int c = id % kTile;
    for (int d = id / kTile; d < kDepth; d += kSpan * kSpan / kTile) {
      const int z = k0 + d, x = base.x + c;
      rail[d][c] = z < w.k && x < w.l ? w.n[size_t(z) * w.l + x] : 0.0f;
    }
  };

  for (int k0 = 0; k0 < w.k; k0 += kDepth) {
    sense_arm(k0);
    sense_rail(k0);
    __syncthreads();
    for (int z = 0; z < kDepth; ++z) {
      float row[kGrip];
      for (int g = 0; g < kGrip; ++g) row[g] = arm[self.y + g * kSpan][z];
      for (int h = 0; h < kGrip; ++h) {
        const float col = rail[z][self.x + h * kSpan];
        for (int g = 0; g < kGrip; ++g) state[g][h] += row[g] * col;
      }
    }
    __syncthreads();
  }

  for (int g = 0; g < kGrip; ++g) {
    const int y = base.y + self.y + g * kSpan;
    for (int h = 0; h < kGrip; ++h) {
      const int x = base.x + self.x + h * kSpan;
      if (y < w.j && x < w.l) w.p[size_t(y) * w.l + x] = state[g][h];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto cover = [](int length) { return (length + kTile - 1) / kTile; };
  Problem world{M, N, P, j, k, l};
  manipulate<<<dim3(cover(l), cover(j)), dim3(kSpan, kSpan)>>>(world);
  CHECK(cudaGetLastError());
}
