// Lab 03. A read-only view checks its own bounds, like an indexer in C#.
#include "check.h"

namespace Config {
constexpr int Tile = 16;
}

class MatrixView {
 public:
  __device__ MatrixView(const float* data, int size) : _data(data), _size(size) {}
  __device__ bool Contains(int y, int x) const { return y < _size && x < _size; }
  __device__ float GetOrZero(int y, int x) const {
    if (!Contains(y, x)) return 0.0f;
    return _data[y * _size + x];
  }

 private:
  const float* _data;
  int _size;
};

struct SharedTile {
  float Cells[Config::Tile * Config::Tile];
  __device__ float& At(int y, int x) { return Cells[y * Config::Tile + x]; }
};

__global__ void MultiplyKernel(const float* a, const float* b, float* c, int size) {
  __shared__ SharedTile tileA;
  __shared__ SharedTile tileB;

  const MatrixView viewA(a, size), viewB(b, size);
  const int localX = threadIdx.x, localY = threadIdx.y;
  const int globalX = localX + blockIdx.x * Config::Tile;
  const int globalY = localY + blockIdx.y * Config::Tile;

  float result = 0.0f;
  int offset = 0;
  while (offset < size) {
    tileA.At(localY, localX) = viewA.GetOrZero(globalY, offset + localX);
    tileB.At(localY, localX) = viewB.GetOrZero(offset + localY, globalX);
    __syncthreads();

    for (int index = 0; index < Config::Tile; index++) {
      result += tileA.At(localY, index) * tileB.At(index, localX);
    }
    __syncthreads();
    offset += Config::Tile;
  }

  if (viewA.Contains(globalY, globalX)) {
    c[globalY * size + globalX] = result;
  }
}

static unsigned int RoundUpDivide(unsigned int value, unsigned int divisor) {
  return value / divisor + (value % divisor > 0 ? 1 : 0);
}

void solve(const float* M, const float* N, float* P, int width) {
  auto blocksPerSide = RoundUpDivide(width, Config::Tile);
  dim3 threads{Config::Tile, Config::Tile};
  dim3 blocks{blocksPerSide, blocksPerSide};
  MultiplyKernel<<<blocks, threads>>>(M, N, P, width);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    CHECK(status);
  }
}
