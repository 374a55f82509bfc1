// Style: __syncthreads_count() and __syncthreads_or() are barriers too

__global__ void k(const float* M, const float* N, float* P, int w) {
  __shared__ float A[16][16], B[16][16];
  int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, c = blockIdx.x * 16 + x;
  float v = 0;
  for (int p = 0; p < w; p += 16) {
    A[y][x] = M[r * w + p + x];
    B[y][x] = N[(p + y) * w + c];
    if (__syncthreads_count(1) != 256) return;
    for (int q = 0; q < 16; q++) v += A[y][q] * B[q][x];
    if (!__syncthreads_or(1)) return;
  }
  P[r * w + c] = v;
}
void solve(const float* M, const float* N, float* P, int w) {
  k<<<dim3(w / 16, w / 16), dim3(16, 16)>>>(M, N, P, w);
}
