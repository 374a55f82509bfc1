// Lab 06: flat tiles with a pitch; rows of the tile of M are 66 words.
#include "check.h"

constexpr int ROWS = 64, COLS = 64, STEPS = 16, PER = 4;
constexpr int SIDE = 16;  // threads of a block: 16 x 16
constexpr int GROUP = SIDE * SIDE;

// Smallest pitch >= words with pitch % 32 == 2: 16 lanes down, 2 across, all in other banks.
constexpr int pitch_for(int words) {
  int p = words;
  while (p % 32 != 2) ++p;
  return p;
}
constexpr int PITCH = pitch_for(ROWS);

__device__ inline int at_m(int step, int row) { return step * PITCH + row; }
__device__ inline int at_n(int step, int col) { return step * COLS + col; }

__device__ float pick(const float* A, int rows, int cols, int r, int c) {
  if (r >= rows) return 0.0f;
  if (c >= cols) return 0.0f;
  return A[size_t(r) * cols + c];
}

__global__ void kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float tm[STEPS * PITCH];
  __shared__ float tn[STEPS * COLS];
  const int lin = threadIdx.y * SIDE + threadIdx.x;
  const int y0 = blockIdx.y * ROWS, x0 = blockIdx.x * COLS;

  float acc[PER][PER] = {{0}};
  const int rounds = (k + STEPS - 1) / STEPS;
  for (int round = 0; round < rounds; ++round) {
    const int k0 = round * STEPS;
    for (int n = 0; n < ROWS * STEPS / GROUP; ++n) {
      const int r = lin / STEPS + n * (GROUP / STEPS), s = lin % STEPS;
      tm[at_m(s, r)] = pick(M, j, k, y0 + r, k0 + s);
    }
    for (int n = 0; n < STEPS * COLS / GROUP; ++n) {
      const int s = lin / COLS + n * (GROUP / COLS), c = lin % COLS;
      tn[at_n(s, c)] = pick(N, k, l, k0 + s, x0 + c);
    }
    __syncthreads();

    for (int s = 0; s < STEPS; ++s) {
      float a[PER], b[PER];
      for (int i = 0; i < PER; ++i) a[i] = tm[at_m(s, threadIdx.y * PER + i)];
      for (int i = 0; i < PER; ++i) b[i] = tn[at_n(s, threadIdx.x + i * SIDE)];
      for (int i = 0; i < PER * PER; ++i) acc[i / PER][i % PER] += a[i / PER] * b[i % PER];
    }
    __syncthreads();
  }

  for (int i = 0; i < PER; ++i) {
    const int y = y0 + threadIdx.y * PER + i;
    for (int n = 0; n < PER; ++n) {
      const int x = x0 + threadIdx.x + n * SIDE;
      if (y < j && x < l) P[size_t(y) * l + x] = acc[i][n];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto tiles = [](int whole, int piece) { return (whole + piece - 1) / piece; };
  kernel<<<dim3(tiles(l, COLS), tiles(j, ROWS)), dim3(SIDE, SIDE)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
