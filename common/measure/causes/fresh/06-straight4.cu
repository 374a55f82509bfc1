// Lab 06: no transposition, so nothing to pad. The tile of M stays as it is in memory and the rows
// of a thread are 16 apart.
#include "check.h"

template <int BLOCK_M, int BLOCK_N, int BLOCK_K>
struct Shared {
  float a[BLOCK_M][BLOCK_K];
  float b[BLOCK_K][BLOCK_N];
};

struct Shape {
  int m, k, n;
  Shape(int m_, int k_, int n_) : m(m_), k(k_), n(n_) {}
};

// Copies an R x C tile at (top, left) of a rows x cols matrix; outside it is 0.
template <int R, int C, int THREADS>
__device__ void copy_tile(float (&tile)[R][C], const float* src, int rows, int cols, int top,
                          int left, int tid) {
  static_assert(R * C % THREADS == 0, "every thread copies as many");
#pragma unroll
  for (int step = 0; step < R * C / THREADS; ++step) {
    const int at = tid + step * THREADS;
    const int y = at / C, x = at % C;
    const bool valid = (top + y < rows) & (left + x < cols);
    tile[y][x] = valid ? src[(size_t)(top + y) * cols + left + x] : 0.0f;
  }
}

template <int BLOCK_M, int BLOCK_N, int BLOCK_K, int GRAIN>
__global__ void gemm(const float* A, const float* B, float* C, Shape shape) {
  constexpr int NX = BLOCK_N / GRAIN, NY = BLOCK_M / GRAIN, THREADS = NX * NY;
  __shared__ Shared<BLOCK_M, BLOCK_N, BLOCK_K> sh;

  const int tid = threadIdx.x;
  const int tx = tid % NX, ty = tid / NX;
  const int top = blockIdx.y * BLOCK_M, left = blockIdx.x * BLOCK_N;

  float c[GRAIN][GRAIN] = {};
  int kk = 0;
  do {
    copy_tile<BLOCK_M, BLOCK_K, THREADS>(sh.a, A, shape.m, shape.k, top, kk, tid);
    copy_tile<BLOCK_K, BLOCK_N, THREADS>(sh.b, B, shape.k, shape.n, kk, left, tid);
    __syncthreads();
#pragma unroll
    for (int p = 0; p < BLOCK_K; ++p) {
      float av[GRAIN], bv[GRAIN];
#pragma unroll
      for (int g = 0; g < GRAIN; ++g) {
        av[g] = sh.a[g * NY + ty][p];
        bv[g] = sh.b[p][g * NX + tx];
      }
#pragma unroll
      for (int g = 0; g < GRAIN * GRAIN; ++g) c[g / GRAIN][g % GRAIN] += av[g / GRAIN] * bv[g % GRAIN];
    }
    __syncthreads();
    kk += BLOCK_K;
  } while (kk < shape.k);

  for (int y = ty, gy = 0; gy < GRAIN; y += NY, ++gy) {
    for (int x = tx, gx = 0; gx < GRAIN; x += NX, ++gx) {
      if (top + y < shape.m && left + x < shape.n) {
        C[(size_t)(top + y) * shape.n + left + x] = c[gy][gx];
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  constexpr int TILE = 64, DEPTH = 16, GRAIN = 4;
  const auto tiles = [](int length) { return (length + TILE - 1) / TILE; };
  const dim3 grid(tiles(l), tiles(j));
  const int threads = TILE / GRAIN * TILE / GRAIN;
  gemm<TILE, TILE, DEPTH, GRAIN><<<grid, threads>>>(M, N, P, Shape(j, k, l));
  CHECK(cudaGetLastError());
}
