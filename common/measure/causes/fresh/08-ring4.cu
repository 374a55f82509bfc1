// Lab 08: a ring of three stages, as in my disk-streaming sampler. Two fetches are always ahead.
#include "check.h"
#include "copy_async.h"

constexpr int RING = 3;
constexpr int ROWS = 64, COLS = 64, STEP = 16;

struct Slot {
  float4 m[ROWS][STEP / 4];
  float4 n[STEP][COLS / 4];
};

struct Matrix {
  const float* at;
  int rows, cols;
};

__device__ void fetch(float4* dst, const Matrix& a, int row, int col) {
  const bool rowOk = row < a.rows;
  const float* src = a.at + size_t(row) * a.cols + col;
  if (a.cols % 4) {
    float* d = reinterpret_cast<float*>(dst);
    for (int x = 0; x < 4; ++x) {
      const bool ok = rowOk && col + x < a.cols;
      copy_async<4>(d + x, ok ? src + x : a.at, ok);
    }
  } else {
    const bool ok = rowOk && col < a.cols;
    copy_async<16>(dst, ok ? src : a.at, ok);
  }
}

__device__ void fill(Slot& slot, const Matrix& m, const Matrix& n, int turn) {
  const int id = threadIdx.x, k0 = turn * STEP;
  fetch(&slot.m[id / 4][id % 4], m, blockIdx.y * ROWS + id / 4, k0 + id % 4 * 4);
  fetch(&slot.n[id / 16][id % 16], n, k0 + id / 16, blockIdx.x * COLS + id % 16 * 4);
}

__device__ void use(const Slot& slot, float4 (&acc)[4], int x, int y) {
  for (int q = 0; q < STEP / 4; ++q) {
    float4 m[4];
    for (int r = 0; r < 4; ++r) m[r] = slot.m[y + 16 * r][q];
    for (int s = 0; s < 4; ++s) {
      const float4 n = slot.n[4 * q + s][x];
      for (int r = 0; r < 4; ++r) {
        const float f = s == 0 ? m[r].x : s == 1 ? m[r].y : s == 2 ? m[r].z : m[r].w;
        acc[r].x += f * n.x;
        acc[r].y += f * n.y;
        acc[r].z += f * n.z;
        acc[r].w += f * n.w;
      }
    }
  }
}

__global__ void ringKernel(Matrix m, Matrix n, float* out) {
  __shared__ Slot ring[RING];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int turns = (m.cols + STEP - 1) / STEP;
  float4 acc[4] = {};

  for (int t = 0; t < RING - 1; ++t) {
    if (t < turns) fill(ring[t], m, n, t);
    __pipeline_commit();
  }
  int now = 0, next = RING - 1;
  for (int t = 0; t < turns; ++t) {
    __pipeline_wait_prior(RING - 2);
    __syncthreads();
    if (t + RING - 1 < turns) fill(ring[next], m, n, t + RING - 1);
    __pipeline_commit();  // an empty group at the end, so that the count stays right
    use(ring[now], acc, x, y);
    now = now + 1 == RING ? 0 : now + 1;
    next = next + 1 == RING ? 0 : next + 1;
  }

  const int col = blockIdx.x * COLS + 4 * x;
  for (int r = 0; r < 4; ++r) {
    const int row = blockIdx.y * ROWS + y + 16 * r;
    if (row >= m.rows || col >= n.cols) continue;
    float* to = out + size_t(row) * n.cols + col;
    if (n.cols % 4 == 0) {
      *reinterpret_cast<float4*>(to) = acc[r];
    } else {
      const float four[4] = {acc[r].x, acc[r].y, acc[r].z, acc[r].w};
      for (int c = 0; c < 4 && col + c < n.cols; ++c) to[c] = four[c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + COLS - 1) / COLS, (j + ROWS - 1) / ROWS);
  ringKernel<<<grid, 256>>>(Matrix{M, j, k}, Matrix{N, k, l}, P);
  CHECK(cudaGetLastError());
}
