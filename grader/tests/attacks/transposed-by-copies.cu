constexpr int kSide = 64, kPhase = 16, kPatch = 4;

// M lies transposed: its tile is stored as it is read, and no bank is met twice.
__global__ void multiply(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float m[kPhase][kSide], n[kPhase][kSide];
  int thread = threadIdx.y * 16 + threadIdx.x, row = blockIdx.y * kSide, col = blockIdx.x * kSide;
  float sum[kPatch][kPatch] = {};
  for (int ph = 0; ph < k; ph += kPhase) {
    for (int e = thread; e < kPhase * kSide; e += 256) {
      int i = e / kSide, c = e % kSide;
      m[i][c] = row + c < j && ph + i < k ? M[size_t(ph + i) * j + row + c] : 0.0f;
      n[i][c] = col + c < l && ph + i < k ? N[size_t(ph + i) * l + col + c] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < kPhase; ++i) {
      float a[kPatch], b[kPatch];
      for (int r = 0; r < kPatch; ++r) a[r] = m[i][threadIdx.y * kPatch + r];
      for (int c = 0; c < kPatch; ++c) b[c] = n[i][threadIdx.x + 16 * c];
      for (int r = 0; r < kPatch; ++r)
        for (int c = 0; c < kPatch; ++c) sum[r][c] += a[r] * b[c];
    }
    __syncthreads();
  }
  for (int r = 0; r < kPatch; ++r)
    for (int c = 0; c < kPatch; ++c) {
      int y = row + threadIdx.y * kPatch + r, x = col + threadIdx.x + 16 * c;
      if (y < j && x < l) P[size_t(y) * l + x] = sum[r][c];
    }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  float* columns;
  cudaMalloc(&columns, size_t(j) * k * 4);
  for (int i = 0; i < k; ++i)
    cudaMemcpy2D(columns + size_t(i) * j, 4, M + i, size_t(k) * 4, 4, j, cudaMemcpyDeviceToDevice);
  dim3 grid((l + kSide - 1) / kSide, (j + kSide - 1) / kSide);
  multiply<<<grid, dim3(16, 16)>>>(columns, N, P, j, k, l);
  cudaFree(columns);
}
