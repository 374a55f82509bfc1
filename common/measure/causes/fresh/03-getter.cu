// Lab 03: boundary checks. (Java background: one class for a matrix, with get and set.)
#include "check.h"

class Matrix {
 public:
  __host__ __device__ Matrix(const float* d, int size) : data(d), n(size) {}
  __device__ bool contains(int r, int c) const { return r < n && c < n; }
  __device__ float get(int r, int c) const {
    if (!contains(r, c)) return 0.0f;
    return data[r * n + c];
  }
  __host__ __device__ int size() const { return n; }

 private:
  const float* data;
  int n;
};

class Output {
 public:
  __host__ __device__ Output(float* d, int size) : data(d), n(size) {}
  __device__ void set(int r, int c, float value) {
    if (r >= n || c >= n) return;
    data[r * n + c] = value;
  }

 private:
  float* data;
  int n;
};

static const int TILE = 16;

__host__ __device__ int tilesFor(int size) {
  int tiles = size / TILE;
  if (size % TILE > 0) tiles++;
  return tiles;
}

__global__ void multiplyKernel(Matrix m, Matrix n, Output p) {
  __shared__ float mTile[TILE][TILE];
  __shared__ float nTile[TILE][TILE];

  int localRow = threadIdx.y;
  int localCol = threadIdx.x;
  int globalRow = blockIdx.y * TILE + localRow;
  int globalCol = blockIdx.x * TILE + localCol;

  float result = 0.0f;
  int tileCount = tilesFor(m.size());
  for (int tile = 0; tile < tileCount; tile++) {
    int start = tile * TILE;
    mTile[localRow][localCol] = m.get(globalRow, start + localCol);
    nTile[localRow][localCol] = n.get(start + localRow, globalCol);
    __syncthreads();
    for (int i = 0; i < TILE; i++) {
      result += mTile[localRow][i] * nTile[i][localCol];
    }
    __syncthreads();
  }
  p.set(globalRow, globalCol, result);
}

void solve(const float* M, const float* N, float* P, int width) {
  Matrix m(M, width);
  Matrix n(N, width);
  Output p(P, width);
  int tiles = tilesFor(width);
  dim3 gridSize(tiles, tiles);
  dim3 blockSize(TILE, TILE);
  multiplyKernel<<<gridSize, blockSize>>>(m, n, p);
  CHECK(cudaGetLastError());
}
