// A tiled product in double precision: 8-byte shared loads and their neighbours.
__global__ void double_tiles(const float* M, const float* N, float* P, int n) {
  __shared__ double m[16][16], b[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  double sum = 0;
  for (int first = 0; first < n; first += 16) {
    m[ty][tx] = row < n && first + tx < n ? M[row * n + first + tx] : 0;
    b[ty][tx] = first + ty < n && column < n ? N[(first + ty) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += m[ty][k] * b[k][tx];
    __syncthreads();
  }
  if (row < n && column < n) P[row * n + column] = float(sum);
}

void solve(const float* M, const float* N, float* P, int n) {
  double_tiles<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(M, N, P, n);
}
