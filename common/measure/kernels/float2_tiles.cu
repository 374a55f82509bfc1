// A product where each thread makes two neighbours of P: 8-byte loads, global and shared.
__global__ void float2_tiles(const float* M, const float* N, float* P, int n) {
  __shared__ float m[16][18];
  __shared__ float2 b[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 32 + 2 * tx;
  float2 sum = {0, 0};
  for (int first = 0; first < n; first += 16) {
    m[ty][tx] = row < n && first + tx < n ? M[row * n + first + tx] : 0;
    bool inside = first + ty < n && column < n;
    b[ty][tx] = inside ? reinterpret_cast<const float2*>(N)[((first + ty) * n + column) / 2] : make_float2(0, 0);
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      float2 v = b[k][tx];
      sum.x += m[ty][k] * v.x;
      sum.y += m[ty][k] * v.y;
    }
    __syncthreads();
  }
  if (row < n && column < n) reinterpret_cast<float2*>(P)[(row * n + column) / 2] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  float2_tiles<<<dim3((n + 31) / 32, (n + 15) / 16), dim3(16, 16)>>>(M, N, P, n);
}
