#include <iostream>
#include <cuda_runtime.h>

// I know Java best, so: objects.
class SquareTile {
public:
    static const int SIZE = 16;

    __device__ void set(int row, int column, float value) { cells[row][column] = value; }
    __device__ float get(int row, int column) const { return cells[row][column]; }

private:
    float cells[SIZE][SIZE];
};

class Matrix {
public:
    const float* data;
    int dimension;

    __device__ Matrix(const float* data, int dimension) : data(data), dimension(dimension) {}
    __device__ float elementOfTile(int tileRow, int tileColumn, int r, int c) const {
        int globalRow = tileRow * SquareTile::SIZE + r;
        int globalColumn = tileColumn * SquareTile::SIZE + c;
        return data[globalRow * dimension + globalColumn];
    }
};

__global__ void multiplyKernel(const float* left, const float* right, float* result, int dimension) {
    __shared__ SquareTile leftTile;
    __shared__ SquareTile rightTile;

    Matrix leftMatrix(left, dimension);
    Matrix rightMatrix(right, dimension);

    // block is one-dimensional
    int myRow = threadIdx.x / SquareTile::SIZE;
    int myColumn = threadIdx.x % SquareTile::SIZE;
    int numberOfTiles = dimension / SquareTile::SIZE;

    float total = 0.0f;
    int tile = 0;
    do {
        leftTile.set(myRow, myColumn, leftMatrix.elementOfTile(blockIdx.y, tile, myRow, myColumn));
        rightTile.set(myRow, myColumn, rightMatrix.elementOfTile(tile, blockIdx.x, myRow, myColumn));
        __syncthreads();
        for (int index = 0; index < SquareTile::SIZE; index++) {
            total += leftTile.get(myRow, index) * rightTile.get(index, myColumn);
        }
        tile++;
        __syncthreads();
    } while (tile < numberOfTiles);

    int outRow = blockIdx.y * SquareTile::SIZE + myRow;
    int outColumn = blockIdx.x * SquareTile::SIZE + myColumn;
    result[outRow * dimension + outColumn] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
    int tilesPerSide = width / SquareTile::SIZE;
    dim3 gridSize(tilesPerSide, tilesPerSide);
    int blockSize = SquareTile::SIZE * SquareTile::SIZE;
    multiplyKernel<<<gridSize, blockSize>>>(M, N, P, width);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "Launch failed: " << cudaGetErrorString(error) << std::endl;
    }
}
