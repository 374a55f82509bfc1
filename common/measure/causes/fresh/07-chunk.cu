#include <cstdint>

// four floats, to be moved as one and used one by one
union Chunk {
  float4 all;
  float one[4];
};

constexpr int ROWS = 64, COLS = 64, STEPS = 16;

// How many of the four places from `at` on lie before `len`.
__device__ int room(int at, int len) {
  const int rest = len - at;
  return rest < 0 ? 0 : rest > 4 ? 4 : rest;
}

__device__ Chunk read(const float* line, int at, int len, bool aligned) {
  Chunk c;
  c.all = make_float4(0.f, 0.f, 0.f, 0.f);
  const int n = room(at, len);
  if (aligned && n == 4) {
    c.all = *reinterpret_cast<const float4*>(line + at);
    return c;
  }
  switch (n) {
    case 4: c.one[3] = line[at + 3];  // falls through
    case 3: c.one[2] = line[at + 2];  // falls through
    case 2: c.one[1] = line[at + 1];  // falls through
    case 1: c.one[0] = line[at];
    default: break;
  }
  return c;
}

__device__ void write(float* line, int at, int len, bool aligned, const Chunk& c) {
  const int n = room(at, len);
  if (aligned && n == 4) {
    *reinterpret_cast<float4*>(line + at) = c.all;
    return;
  }
  for (int i = 0; i < n; ++i) line[at + i] = c.one[i];
}

__global__ void chunk_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float4 mt[ROWS][STEPS / 4];
  __shared__ float4 nt[STEPS][COLS / 4];
  const int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLS;
  const bool m_fast = (k & 3) == 0, n_fast = (l & 3) == 0;

  Chunk acc[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) acc[i].all = make_float4(0.f, 0.f, 0.f, 0.f);

  for (int at = 0; at < k; at += STEPS) {
    const int mr = t >> 2, mq = t & 3;
    mt[mr][mq] = read(M + size_t(row0 + mr) * k, at + 4 * mq, row0 + mr < j ? k : 0, m_fast).all;
    const int nr = t >> 4, nq = t & 15;
    nt[nr][nq] = read(N + size_t(at + nr) * l, col0 + 4 * nq, at + nr < k ? l : 0, n_fast).all;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < STEPS / 4; ++q) {
      Chunk a[4], b;
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i].all = mt[ty + 16 * i][q];
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        b.all = nt[4 * q + s][tx];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          acc[i].all.x += a[i].one[s] * b.all.x;
          acc[i].all.y += a[i].one[s] * b.all.y;
          acc[i].all.z += a[i].one[s] * b.all.z;
          acc[i].all.w += a[i].one[s] * b.all.w;
        }
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = row0 + ty + 16 * i;
    if (row < j) write(P + size_t(row) * l, col0 + 4 * tx, l, n_fast, acc[i]);
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + COLS - 1) / COLS, (j + ROWS - 1) / ROWS);
  chunk_kernel<<<grid, 256>>>(M, N, P, j, k, l);
}
