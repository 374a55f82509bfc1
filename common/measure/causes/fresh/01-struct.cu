#include <cuda_runtime.h>

typedef struct {
    int width;
    int height;
    float* elements;
} Matrix;

#define BLOCK_SIZE 16

__global__ void MatMulKernel(const Matrix A, const Matrix B, Matrix C)
{
    float Cvalue = 0;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < A.height && col < B.width) {
        for (int e = A.width - 1; e >= 0; --e)
            Cvalue += A.elements[row * A.width + e]
                    * B.elements[e * B.width + col];
        C.elements[row * C.width + col] = Cvalue;
    }
}

void solve(const float* a, const float* b, float* c, int width)
{
    Matrix d_A, d_B, d_C;
    size_t size;

    d_A.width = d_A.height = width;
    size = width * width * sizeof(float);
    cudaMalloc(&d_A.elements, size);
    cudaMemcpy(d_A.elements, a, size, cudaMemcpyHostToDevice);

    d_B.width = d_B.height = width;
    cudaMalloc(&d_B.elements, size);
    cudaMemcpy(d_B.elements, b, size, cudaMemcpyHostToDevice);

    d_C.width = d_C.height = width;
    cudaMalloc(&d_C.elements, size);

    dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
    dim3 dimGrid((width + dimBlock.x - 1) / dimBlock.x, (width + dimBlock.y - 1) / dimBlock.y);
    MatMulKernel<<<dimGrid, dimBlock>>>(d_A, d_B, d_C);

    cudaMemcpy(c, d_C.elements, size, cudaMemcpyDeviceToHost);
    cudaFree(d_A.elements);
    cudaFree(d_B.elements);
    cudaFree(d_C.elements);
}
