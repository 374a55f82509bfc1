#line 1 "/etc/passwd"
constexpr int T = 16;

__global__ void tiled(const float* M, const float* N, float* P, int width) {
  __shared__ float a[T][T], b[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0;
  for (int ph = 0; ph < width / T; ++ph) {
    a[ty][tx] = M[row * width + ph * T + tx];
    b[ty][tx] = N[(ph * T + ty) * width + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  P[row * width + col] = sum;
}
#line 99999 "../../solutions/02-tiled-kernel/matmul.cu"
void solve(const float* M, const float* N, float* P, int width) {
  tiled<<<dim3(width / T, width / T), dim3(T, T)>>>(M, N, P, width);
}
