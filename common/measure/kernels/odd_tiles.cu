// A tiled product with tiles of 20 x 12 and 12 x 24 in blocks of 24 x 20: rows that begin anywhere.
__global__ void odd_tiles(const float* M, const float* N, float* P, int n) {
  __shared__ float m[20][12], b[12][24];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 20 + ty, column = blockIdx.x * 24 + tx;
  float sum = 0;
  for (int first = 0; first < n; first += 12) {
    if (tx < 12) m[ty][tx] = row < n && first + tx < n ? M[row * n + first + tx] : 0;
    if (ty < 12) b[ty][tx] = first + ty < n && column < n ? N[(first + ty) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < 12; ++k) sum += m[ty][k] * b[k][tx];
    __syncthreads();
  }
  if (row < n && column < n) P[row * n + column] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  odd_tiles<<<dim3((n + 23) / 24, (n + 19) / 20), dim3(24, 20)>>>(M, N, P, n);
}
