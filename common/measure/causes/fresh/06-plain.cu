// Lab 06: I don't transpose at all. Rows of a thread lie NY apart, so two lanes never share a bank.
#include "check.h"

constexpr int TILE_M = 64, TILE_N = 64, TILE_K = 16;
constexpr int R = 8, C = 4;
constexpr int NX = TILE_N / C;  // 16
constexpr int NY = TILE_M / R;  // 8
constexpr int COUNT = NX * NY;

__device__ __forceinline__ bool inside(int r, int c, int rows, int cols) {
  return unsigned(r) < unsigned(rows) && unsigned(c) < unsigned(cols);
}

__global__ void noTranspose(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float sm[TILE_M][TILE_K];
  __shared__ float sn[TILE_K][TILE_N];

  int id = threadIdx.x;
  int cx = id % NX, cy = id / NX;
  int row0 = blockIdx.y * TILE_M, col0 = blockIdx.x * TILE_N;

  float acc[R][C];
#pragma unroll
  for (int q = 0; q < R * C; ++q) acc[q / C][q % C] = 0.0f;

  int done = 0;
  while (done < k) {
    for (int e = id; e < TILE_M * TILE_K; e += COUNT) {
      int r = e / TILE_K, c = e % TILE_K;
      float x = 0.0f;
      if (inside(row0 + r, done + c, j, k)) x = M[(long long)(row0 + r) * k + done + c];
      sm[r][c] = x;
    }
    for (int e = id; e < TILE_K * TILE_N; e += COUNT) {
      int r = e / TILE_N, c = e % TILE_N;
      float x = 0.0f;
      if (inside(done + r, col0 + c, k, l)) x = N[(long long)(done + r) * l + col0 + c];
      sn[r][c] = x;
    }
    __syncthreads();

    for (int s = 0; s < TILE_K; ++s) {
      float b[C];
#pragma unroll
      for (int c = 0; c < C; ++c) b[c] = sn[s][cx + NX * c];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        float a = sm[cy + NY * r][s];
#pragma unroll
        for (int c = 0; c < C; ++c) acc[r][c] += a * b[c];
      }
    }
    __syncthreads();
    done += TILE_K;
  }

  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) {
      int y = row0 + cy + NY * r, x = col0 + cx + NX * c;
      if (inside(y, x, j, l)) P[(long long)y * l + x] = acc[r][c];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int gx = (l + TILE_N - 1) / TILE_N;
  int gy = (j + TILE_M - 1) / TILE_M;
  noTranspose<<<dim3(gx, gy), COUNT>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
