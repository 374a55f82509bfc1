// Lanes walk down columns: each lane of a warp reads its own sector of M, N and P.
__global__ void columns(const float* M, const float* N, float* P, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n) P[row * n + column] = M[row * n + column] * N[column * n + row] + 0.5f;
}

void solve(const float* M, const float* N, float* P, int n) {
  dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  columns<<<grid, block>>>(M, N, P, n);
}
