#include <cuda_fp16.h>

__global__ void product(const float* M, const float* N, float* P, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < width; ++k) {
    sum += __half2float(__float2half(M[row * width + k])) *
           __half2float(__float2half(N[k * width + col]));
  }
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  product<<<dim3(width / 16, width / 16), dim3(16, 16)>>>(M, N, P, width);
}
