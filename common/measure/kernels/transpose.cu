// A transpose through a 32 x 32 tile, its columns in one bank, and again through a padded tile; dynamic shared memory.
__global__ void transpose(const float* M, float* P, int n, int pitch) {
  extern __shared__ float tile[];  // [32][pitch]
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) {
    if (x < n && y + k < n) tile[(threadIdx.y + k) * pitch + threadIdx.x] = M[(y + k) * n + x];
  }
  __syncthreads();
  int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) {
    if (tx < n && ty + k < n) P[(ty + k) * n + tx] = tile[threadIdx.x * pitch + threadIdx.y + k];
  }
}

void solve(const float* M, const float* N, float* P, int n) {
  dim3 block(32, 8), grid((n + 31) / 32, (n + 31) / 32);
  transpose<<<grid, block, 32 * 32 * sizeof(float)>>>(M, P, n, 32);
  transpose<<<grid, block, 32 * 33 * sizeof(float)>>>(N, P, n, 33);
}
