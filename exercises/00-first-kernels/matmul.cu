// Lab 00, first kernels: six steps of at most five lines. All but the third are graded. The handout
// is README.md.
//
//   make grade LAB=00                                     grade this file
//   nvcc -std=c++17 -I../../common/include -c matmul.cu   only compile it

#include <cstdio>

#include "check.h"  // CHECK(call) reports a CUDA call that fails

constexpr int BLOCK = 256;                // threads of a block of one dimension
constexpr int BLOCK_X = 32, BLOCK_Y = 8;  // of a block of two

// How many pieces cover the whole: 1000 elements need 4 blocks of 256.
int ceil_div(int whole, int piece) {
  return (whole + piece - 1) / piece;
}

// a[i] = 2 a[i]. The grid is rounded up: its last threads have no element.
__global__ void scale_kernel(float* a, int n) {
  // TODO(1): which element is this thread's? Double it, if there is one. (about 2 lines)
  // END TODO(1)
}

// image[row][col] becomes 255 - image[row][col]; row-major, columns elements a row.
__global__ void negative_kernel(int* image, int rows, int columns) {
  // TODO(2): row from y, column from x; invert the pixel, if there is one. (about 4 lines)
  // END TODO(2)
}

// Ready: says which threads there are.
__global__ void hello_kernel() {
  // TODO(3): the first thread of each block prints blockIdx.x and blockDim.x. (about 1 line)
  // END TODO(3)
}

// A and image: HOST pointers, n floats and rows * columns ints.
void solve(float* a, int* image, int n, int rows, int columns) {
  float* d_a = nullptr;
  int* d_image = nullptr;
  size_t a_bytes = n * sizeof(float), image_bytes = size_t(rows) * columns * sizeof(int);

  // TODO(4): allocate d_a and d_image on the device, and copy a and image there. (about 4 lines)
  // END TODO(4)

  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start));
  hello_kernel<<<2, 64>>>();
  // TODO(5): launch scale_kernel and negative_kernel, on enough blocks for all. (about 5 lines)
  // END TODO(5)
  CHECK(cudaEventRecord(stop));

  // TODO(6): copy both arrays back, which waits for the kernels; free them. (about 4 lines)
  // END TODO(6)

  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
}
