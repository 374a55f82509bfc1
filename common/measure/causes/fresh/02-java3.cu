// Lab 02: tiled multiplication. The "object" TileLoader knows where its thread stands.
#include "check.h"

static const int SIZE = 16;               // side of a tile
static const int AREA = SIZE * SIZE;      // its elements; also the threads of a block

struct TileLoader {
  int localRow;
  int localCol;
  int globalWidth;

  __device__ TileLoader(int threadNumber, int width) {
    localRow = threadNumber / SIZE;
    localCol = threadNumber % SIZE;
    globalWidth = width;
  }

  // Copies this thread's element of the tile with the upper left corner (top, left).
  __device__ void load(float* tile, const float* matrix, int top, int left) const {
    int source = (top + localRow) * globalWidth + (left + localCol);
    tile[localRow * SIZE + localCol] = matrix[source];
  }

  __device__ float multiplyTiles(const float* leftTile, const float* rightTile) const {
    float result = 0.0f;
    for (int index = 0; index < SIZE; index++) {
      result += leftTile[localRow * SIZE + index] * rightTile[index * SIZE + localCol];
    }
    return result;
  }

  __device__ void store(float* matrix, int top, int left, float value) const {
    matrix[(top + localRow) * globalWidth + left + localCol] = value;
  }
};

__global__ void tiledMultiply(const float* first, const float* second, float* product, int width) {
  __shared__ float firstTile[AREA];
  __shared__ float secondTile[AREA];

  TileLoader loader(threadIdx.x, width);
  int blocksPerRow = width / SIZE;
  int top = blockIdx.x / blocksPerRow * SIZE;
  int left = blockIdx.x % blocksPerRow * SIZE;

  float total = 0.0f;
  int offset = 0;
  while (offset < width) {
    loader.load(firstTile, first, top, offset);
    loader.load(secondTile, second, offset, left);
    __syncthreads();
    total += loader.multiplyTiles(firstTile, secondTile);
    __syncthreads();
    offset += SIZE;
  }
  loader.store(product, top, left, total);
}

void solve(const float* M, const float* N, float* P, int width) {
  int blocksPerRow = width / SIZE;
  int numberOfBlocks = blocksPerRow * blocksPerRow;
  tiledMultiply<<<numberOfBlocks, AREA>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
