// Tiled multiplication, object by object.
#include <cstdio>
#include <cstdlib>

struct Matrix {
  const float* data;
  int size;
  __device__ float get(int row, int column) const { return data[row * size + column]; }
};

template <int SIZE>
class TileCache {
  float cells[SIZE][SIZE];

 public:
  // every thread fetches the cell that belongs to it
  __device__ void fetch(const Matrix& from, int tileRow, int tileColumn) {
    int myRow = tileRow * SIZE + threadIdx.y;
    int myColumn = tileColumn * SIZE + threadIdx.x;
    cells[threadIdx.y][threadIdx.x] = from.get(myRow, myColumn);
  }
  __device__ float at(int row, int column) const { return cells[row][column]; }
};

template <int SIZE>
__device__ float innerProduct(const TileCache<SIZE>& left, const TileCache<SIZE>& right,
                              float start) {
  float result = start;
  for (int index = 0; index < SIZE; index++) {
    result += left.at(threadIdx.y, index) * right.at(index, threadIdx.x);
  }
  return result;
}

template <int SIZE>
__global__ void multiplyTiles(Matrix left, Matrix right, float* product) {
  __shared__ TileCache<SIZE> leftTile;
  __shared__ TileCache<SIZE> rightTile;

  int numberOfTiles = left.size / SIZE;
  float result = 0.0f;
  for (int tile = 0; tile < numberOfTiles; tile++) {
    leftTile.fetch(left, blockIdx.y, tile);
    rightTile.fetch(right, tile, blockIdx.x);
    __syncthreads();
    result = innerProduct<SIZE>(leftTile, rightTile, result);
    __syncthreads();
  }

  int row = blockIdx.y * SIZE + threadIdx.y;
  int column = blockIdx.x * SIZE + threadIdx.x;
  product[row * left.size + column] = result;
}

class Launcher {
  static const int TILE = 32;
  dim3 threads, grid;

 public:
  explicit Launcher(int size) : threads(TILE, TILE), grid(size / TILE, size / TILE) {}

  void run(const Matrix& left, const Matrix& right, float* product) {
    multiplyTiles<TILE><<<grid, threads>>>(left, right, product);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
      std::printf("Launcher.run: %s\n", cudaGetErrorString(error));
      std::exit(1);
    }
  }
};

void solve(const float* M, const float* N, float* P, int width) {
  Matrix left = {M, width};
  Matrix right = {N, width};
  Launcher launcher(width);
  launcher.run(left, right, P);
}
