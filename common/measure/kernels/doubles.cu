// Double precision: a dot product in double, division, square root and conversions; 8-byte shared words.
__global__ void doubles(const float* M, const float* N, float* P, int n) {
  __shared__ double row_sums[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  double sum = 0;
  if (row < n && column < n) {
    for (int k = 0; k < n && k < 64; ++k) sum += double(M[row * n + k]) * N[k * n + column];
  }
  row_sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  double other = row_sums[threadIdx.x][threadIdx.y];
  double result = sqrt(sum * sum + 1.0) + other / 3.0 - (double)(int)(sum * 100.0);
  if (row < n && column < n) P[row * n + column] = (float)result;
}

void solve(const float* M, const float* N, float* P, int n) {
  dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  doubles<<<grid, block>>>(M, N, P, n);
}
