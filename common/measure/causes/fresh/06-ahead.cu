// Lab 06: keep lab 05's layout, transposed; the padding makes the pitch 70. The next phase's words
// are fetched into registers while this one is computed. (Go programmer)
#include "check.h"

const int rowsPerBlock = 64;
const int colsPerBlock = 64;
const int depth = 16;
const int perThread = 4;
const int nThreads = 256;
const int perFetch = rowsPerBlock * depth / nThreads;  // words that a thread fetches of each tile
const int pitch = rowsPerBlock + 6;

struct dims {
  int j, k, l;
};

__device__ void fetchM(float (&w)[perFetch], const float* M, dims d, int row, int col) {
  for (int f = 0; f < perFetch; f++) {
    int r = row + f * (nThreads / depth);
    w[f] = 0;
    if (r < d.j && col < d.k) w[f] = M[size_t(r) * d.k + col];
  }
}

__device__ void fetchN(float (&w)[perFetch], const float* N, dims d, int row, int col) {
  for (int f = 0; f < perFetch; f++) {
    int r = row + f * (nThreads / colsPerBlock);
    w[f] = 0;
    if (r < d.k && col < d.l) w[f] = N[size_t(r) * d.l + col];
  }
}

__global__ void ahead(const float* M, const float* N, float* P, dims d) {
  __shared__ float mt[depth][pitch];
  __shared__ float nt[depth][colsPerBlock];
  int t = threadIdx.x;
  int mi = t % depth, mr = t / depth;                // where this thread loads in M's tile
  int nc = t % colsPerBlock, ni = t / colsPerBlock;  // and in N's
  int tx = t % 16, ty = t / 16;
  int top = blockIdx.y * rowsPerBlock;
  int left = blockIdx.x * colsPerBlock;

  float nextM[perFetch], nextN[perFetch];
  float sum[perThread][perThread] = {};
  fetchM(nextM, M, d, top + mr, mi);
  fetchN(nextN, N, d, ni, left + nc);

  for (int done = 0; done < d.k; done += depth) {
    for (int f = 0; f < perFetch; f++) {
      mt[mi][mr + f * (nThreads / depth)] = nextM[f];
      nt[ni + f * (nThreads / colsPerBlock)][nc] = nextN[f];
    }
    __syncthreads();
    if (done + depth < d.k) {
      fetchM(nextM, M, d, top + mr, done + depth + mi);
      fetchN(nextN, N, d, done + depth + ni, left + nc);
    }
    for (int i = 0; i < depth; i++) {
      float a[perThread];
      for (int r = 0; r < perThread; r++) a[r] = mt[i][ty * perThread + r];
      for (int c = 0; c < perThread; c++) {
        float b = nt[i][tx + 16 * c];
        for (int r = 0; r < perThread; r++) sum[r][c] += a[r] * b;
      }
    }
    __syncthreads();
  }

  float* out = P + size_t(top + ty * perThread) * d.l + left + tx;
  for (int r = 0; r < perThread; r++) {
    for (int c = 0; c < perThread; c++) {
      if (top + ty * perThread + r < d.j && left + tx + 16 * c < d.l) out[16 * c] = sum[r][c];
    }
    out += d.l;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dims d{j, k, l};
  dim3 grid(l / colsPerBlock + (l % colsPerBlock ? 1 : 0),
            j / rowsPerBlock + (j % rowsPerBlock ? 1 : 0));
  ahead<<<grid, nThreads>>>(M, N, P, d);
  CHECK(cudaGetLastError());
}
