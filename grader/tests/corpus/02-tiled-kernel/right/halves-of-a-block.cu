// Style: each half of a block has a tile of its own, and a named barrier

__global__ void k(const float* M, const float* N, float* P, int w) {
  __shared__ float A[2][16][16], B[2][16][16];
  int g = threadIdx.z, x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y,
      c = (blockIdx.x * 2 + g) * 16 + x;
  float v = 0;
  for (int p = 0; p < w; p += 16) {
    A[g][y][x] = M[r * w + p + x];
    B[g][y][x] = N[(p + y) * w + c];
    asm volatile("bar.sync %0, 256;" ::"r"(g + 1) : "memory");
    for (int q = 0; q < 16; q++) v += A[g][y][q] * B[g][q][x];
    asm volatile("bar.sync %0, 256;" ::"r"(g + 1) : "memory");
  }
  P[r * w + c] = v;
}
void solve(const float* M, const float* N, float* P, int w) {
  k<<<dim3(w / 32, w / 16), dim3(16, 16, 2)>>>(M, N, P, w);
}
