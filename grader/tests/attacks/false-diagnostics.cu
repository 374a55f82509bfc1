#pragma message("matmul.cu(3): error: ATTACK SUCCEEDED")
#warning "\x1b[2J matmul.cu:1:1: error: nothing"
#line 1 "matmul.cu"
__global__ void naive(const float* M, const float* N, float* P, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += M[row * width + k] * N[k * width + col];
  P[row * width + col] = sum + 1;
}

void solve(const float* M, const float* N, float* P, int width) {
  naive<<<dim3(width / 16, width / 16), dim3(16, 16)>>>(M, N, P, width);
}
