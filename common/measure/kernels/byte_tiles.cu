// Tiles of bytes: four lanes to a word.
__global__ void byte_tiles(const float* M, const float* N, float* P, int n) {
  __shared__ unsigned char tile[16][20];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  bool inside = row < n && column < n;
  tile[ty][tx] = inside ? (unsigned char)(100 * M[row * n + column] + 100) : 0;
  __syncthreads();
  if (inside) P[row * n + column] = tile[tx][ty] * N[row * n + column] + tile[ty][15 - tx];
}

void solve(const float* M, const float* N, float* P, int n) {
  byte_tiles<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(M, N, P, n);
}
