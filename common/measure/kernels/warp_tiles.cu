// Lanes of a warp as 8 x 4, 4 x 4 results each: 16-byte shared loads that groups of lanes share.
__global__ void warp_tiles(const float* M, const float* N, float* P, int n) {
  __shared__ float4 m[8][8], b[8][8];  // [k][four rows of M], [k][four columns of N]
  int lane = threadIdx.x, x = lane % 8, y = lane / 8 + 4 * threadIdx.y;
  int thread = lane + 32 * threadIdx.y, row = blockIdx.y * 32, column = blockIdx.x * 32;
  float sum[4][4] = {};
  for (int first = 0; first < n; first += 8) {
    for (int e = thread; e < 256; e += 64) {
      int r = row + e / 8, k = first + e % 8, c = column + e % 32, q = first + e / 32;
      reinterpret_cast<float*>(m)[e % 8 * 32 + e / 8] = r < n && k < n ? M[r * n + k] : 0;
      reinterpret_cast<float*>(b)[e] = q < n && c < n ? N[q * n + c] : 0;
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
      float4 u = m[k][y], v = b[k][x];
      float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += us[i] * vs[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (row + 4 * y + i < n && column + 4 * x + j < n) P[(row + 4 * y + i) * n + column + 4 * x + j] = sum[i][j];
}

void solve(const float* M, const float* N, float* P, int n) {
  warp_tiles<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 2)>>>(M, N, P, n);
}
