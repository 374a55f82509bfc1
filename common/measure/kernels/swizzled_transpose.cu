// A transpose through shared memory whose columns are exchanged by row, four words at a time.
__global__ void swizzled_transpose(const float* M, const float* N, float* P, int n) {
  __shared__ float tile[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;  // 8 x 32 threads, four neighbours each
  int row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + 4 * tx;
  for (int k = 0; k < 4; ++k) {
    tile[ty][(4 * tx ^ (ty & 28)) + k] = row < n && column + k < n ? M[row * n + column + k] : 0;
  }
  __syncthreads();
  int to_row = blockIdx.x * 32 + ty, to_column = blockIdx.y * 32 + 4 * tx;
  for (int k = 0; k < 4; ++k) {
    int r = 4 * tx + k;
    if (to_row < n && to_column + k < n)
      P[to_row * n + to_column + k] = tile[r][(ty & 28 ^ (r & 28)) + (ty & 3)] + N[to_row * n + to_column + k];
  }
}

void solve(const float* M, const float* N, float* P, int n) {
  swizzled_transpose<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(8, 32)>>>(M, N, P, n);
}
