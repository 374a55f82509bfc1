// Lab 08: three stages, two phases on their way. Uses NVIDIA's __pipeline_memcpy_async.
#include <cuda_pipeline.h>
#include "check.h"

constexpr int SIZE = 64;    // of the block's part of P, both ways
constexpr int DEEP = 16;    // steps of a phase
constexpr int STAGES = 3;   // places on the belt
constexpr int NTHREADS = 256;

struct Place {
  float m[SIZE][DEEP];
  float n[DEEP][SIZE];
};

__device__ void order(float* to, const float* A, int rows, int cols, int r, int c) {
  const float* src = A + size_t(r) * cols + c;
  if (cols % 4 == 0) {
    const bool ok = r < rows && c < cols;
    __pipeline_memcpy_async(to, ok ? src : A, 16, ok ? 0 : 16);
    return;
  }
  for (int q = 0; q < 4; ++q) {
    const bool ok = r < rows && c + q < cols;
    __pipeline_memcpy_async(to + q, ok ? src + q : A, 4, ok ? 0 : 4);
  }
}

__device__ float4& quad(float* p) { return *reinterpret_cast<float4*>(p); }

__global__ void conveyor(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Place belt[STAGES];
  const int id = threadIdx.x;
  const int tx = id % 16, ty = id / 16;
  const int top = blockIdx.y * SIZE, left = blockIdx.x * SIZE;
  const int phases = (k + DEEP - 1) / DEEP;

  // each thread orders one piece of 16 bytes of either tile
  auto send = [&](int ph) {
    if (ph < phases) {
      Place& place = belt[ph % STAGES];
      const int mr = id / 4, mi = id % 4 * 4;
      const int ni = id / 16, nc = id % 16 * 4;
      order(&place.m[mr][mi], M, j, k, top + mr, ph * DEEP + mi);
      order(&place.n[ni][nc], N, k, l, ph * DEEP + ni, left + nc);
    }
    __pipeline_commit();  // may be an empty group: the counts stay the same
  };

  alignas(16) float acc[4][4] = {};
  for (int ph = 0; ph < STAGES - 1; ++ph) send(ph);

  for (int ph = 0; ph < phases; ++ph) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
    send(ph + STAGES - 1);

    Place& now = belt[ph % STAGES];
#pragma unroll
    for (int i = 0; i < DEEP; i += 4) {
      alignas(16) float a[4][4], b[4][4];
      for (int q = 0; q < 4; ++q) {
        quad(a[q]) = quad(&now.m[ty + 16 * q][i]);
        quad(b[q]) = quad(&now.n[i + q][4 * tx]);
      }
      for (int r = 0; r < 4; ++r)
        for (int q = 0; q < 4; ++q)
          for (int c = 0; c < 4; ++c) acc[r][c] += a[r][q] * b[q][c];
    }
  }

  const int col = left + 4 * tx;
  for (int r = 0; r < 4; ++r) {
    const int row = top + ty + 16 * r;
    if (row >= j || col >= l) continue;
    float* to = P + size_t(row) * l + col;
    if (l % 4 == 0) {
      quad(to) = quad(acc[r]);
    } else {
      for (int c = 0; c < 4 && col + c < l; ++c) to[c] = acc[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int across = (l - 1) / SIZE + 1;
  const int down = (j - 1) / SIZE + 1;
  conveyor<<<dim3(across, down), NTHREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
