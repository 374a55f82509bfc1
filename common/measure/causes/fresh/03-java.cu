#include <cstdlib>
#include <iostream>
#include <cuda_runtime.h>

/** A square matrix that can be asked for any element: those outside are zero. */
class SquareMatrix {
private:
    const float* values;
    int size;

public:
    __device__ SquareMatrix(const float* values, int size) {
        this->values = values;
        this->size = size;
    }

    __device__ bool contains(int row, int column) const {
        return row < size && column < size;
    }

    __device__ float getOrZero(int row, int column) const {
        if (!contains(row, column)) {
            return 0.0f;
        }
        return values[row * size + column];
    }
};

/** Settings shared by host and device. */
class Settings {
public:
    static const int BLOCK_SIZE = 16;

    static __host__ __device__ int numberOfBlocks(int size) {
        int full = size / BLOCK_SIZE;
        bool rest = size % BLOCK_SIZE > 0;
        return rest ? full + 1 : full;
    }
};

__global__ void multiplyKernel(const float* left, const float* right, float* result, int size) {
    __shared__ float leftTile[Settings::BLOCK_SIZE][Settings::BLOCK_SIZE];
    __shared__ float rightTile[Settings::BLOCK_SIZE][Settings::BLOCK_SIZE];

    SquareMatrix leftMatrix(left, size);
    SquareMatrix rightMatrix(right, size);

    int myRow = threadIdx.y;
    int myColumn = threadIdx.x;
    int globalRow = blockIdx.y * Settings::BLOCK_SIZE + myRow;
    int globalColumn = blockIdx.x * Settings::BLOCK_SIZE + myColumn;

    float total = 0.0f;
    int numberOfTiles = Settings::numberOfBlocks(size);
    for (int tile = 0; tile < numberOfTiles; tile++) {
        int offset = tile * Settings::BLOCK_SIZE;
        leftTile[myRow][myColumn] = leftMatrix.getOrZero(globalRow, offset + myColumn);
        rightTile[myRow][myColumn] = rightMatrix.getOrZero(offset + myRow, globalColumn);
        __syncthreads();

        for (int index = 0; index < Settings::BLOCK_SIZE; index++) {
            total += leftTile[myRow][index] * rightTile[index][myColumn];
        }
        __syncthreads();
    }

    if (leftMatrix.contains(globalRow, globalColumn)) {
        result[globalRow * size + globalColumn] = total;
    }
}

void solve(const float* M, const float* N, float* P, int width) {
    int blocks = Settings::numberOfBlocks(width);
    dim3 gridSize(blocks, blocks);
    dim3 blockSize(Settings::BLOCK_SIZE, Settings::BLOCK_SIZE);
    multiplyKernel<<<gridSize, blockSize>>>(M, N, P, width);

    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        std::cerr << "Could not start the kernel: " << cudaGetErrorString(error) << std::endl;
        std::abort();
    }
}
