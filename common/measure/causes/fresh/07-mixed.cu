#include "check.h"

// 32 x 64 of P by 128 threads: a thread has 4 rows and 4 neighbouring columns.
constexpr int HIGH = 32, WIDE = 64, LONG = 16;

struct alignas(16) Four {
  float v[4];
};

__device__ Four read(const float* A, int rows, int cols, int r, int c) {
  Four f = {{0.0f, 0.0f, 0.0f, 0.0f}};
  if (r < rows && c < cols) {
    const float* p = A + size_t(r) * cols + c;
    if ((cols & 3) == 0) {
      f = *(const Four*)p;
    } else {
      for (int i = 0; i < 4 && c + i < cols; ++i) f.v[i] = p[i];
    }
  }
  return f;
}

__global__ void mixed(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Four ms[HIGH][LONG / 4];
  __shared__ Four ns[LONG][WIDE / 4];
  const int t = threadIdx.x;
  const int tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * HIGH, col0 = blockIdx.x * WIDE;
  Four sum[4] = {};

  for (int z = 0; z < k; z += LONG) {
    ms[t / 4][t % 4] = read(M, j, k, row0 + t / 4, z + t % 4 * 4);
    ns[ty][tx] = read(N, k, l, z + ty, col0 + 4 * tx);
    ns[ty + 8][tx] = read(N, k, l, z + ty + 8, col0 + 4 * tx);
    __syncthreads();
    for (int q = 0; q < LONG / 4; ++q) {
      for (int s = 0; s < 4; ++s) {
        Four n = ns[4 * q + s][tx];
        for (int r = 0; r < 4; ++r) {
          float m = ms[4 * ty + r][q].v[s];
          for (int i = 0; i < 4; ++i) sum[r].v[i] += m * n.v[i];
        }
      }
    }
    __syncthreads();
  }

  const int col = col0 + 4 * tx;
  for (int r = 0; r < 4; ++r) {
    const int row = row0 + 4 * ty + r;
    if (row >= j || col >= l) continue;
    float* to = P + size_t(row) * l + col;
    if (l % 4 == 0) {
      *reinterpret_cast<Four*>(to) = sum[r];
    } else {
      for (int i = 0; i < min(4, l - col); ++i) to[i] = sum[r].v[i];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + WIDE - 1) / WIDE, (j + HIGH - 1) / HIGH);
  mixed<<<grid, 128>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
