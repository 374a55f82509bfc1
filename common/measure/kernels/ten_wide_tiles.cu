// Rows of 10 words: every second one begins at a multiple of 16 bytes, all at one of 8.
__global__ void ten_wide_tiles(const float* M, const float* N, float* P, int n) {
  __shared__ float m[16][10], b[10][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int first = 0; first < n; first += 10) {
    if (tx < 10) m[ty][tx] = row < n && first + tx < n ? M[row * n + first + tx] : 0;
    if (ty < 10) b[ty][tx] = first + ty < n && column < n ? N[(first + ty) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < 10; ++k) sum += m[ty][k] * b[k][tx];
    __syncthreads();
  }
  if (row < n && column < n) P[row * n + column] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  ten_wide_tiles<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(M, N, P, n);
}
