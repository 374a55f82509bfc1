#include <cuda_runtime.h>

// A square piece of a matrix, and how to fill it.
template <int SIDE>
struct Piece {
  float v[SIDE][SIDE];

  __device__ void take(const float* from, int pitch) {
    v[threadIdx.y][threadIdx.x] = from[threadIdx.y * pitch + threadIdx.x];
  }
};

template <int SIDE>
__global__ void by_pieces(const float* A, const float* B, float* C, int width) {
  __shared__ Piece<SIDE> pa, pb;
  const float* a = A + SIDE * blockIdx.y * width;
  const float* b = B + SIDE * blockIdx.x;
  float* c = C + SIDE * blockIdx.y * width + SIDE * blockIdx.x;

  float sum = 0.0f;
  int count = width / SIDE;
  while (count > 0) {
    pa.take(a, width);
    pb.take(b, width);
    __syncthreads();
    for (int i = 0; i < SIDE; ++i) {
      sum += pa.v[threadIdx.y][i] * pb.v[i][threadIdx.x];
    }
    __syncthreads();
    a += SIDE;
    b += SIDE * width;
    --count;
  }
  c[threadIdx.y * width + threadIdx.x] = sum;
}

void solve(const float* A, const float* B, float* C, int width) {
  constexpr int side = 16;
  by_pieces<side><<<dim3(width / side, width / side), dim3(side, side)>>>(A, B, C, width);
}
