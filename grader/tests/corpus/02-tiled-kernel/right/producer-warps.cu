// Style: half of the warps load and half compute; named barriers hand the stages over

__global__ void k(const float* M, const float* N, float* P, int w) {
  __shared__ float A[2][16][16], B[2][16][16];
  int t = threadIdx.x;
  int R = blockIdx.y * 16, C = blockIdx.x * 16;
  int ph = w / 16;
  if (t < 256) {
    int y = t / 16, x = t % 16;
    float v = 0;
    for (int p = 0; p < ph; p++) {
      int s = p & 1;
      asm volatile("bar.sync %0, 512;" ::"r"(1 + s) : "memory");
      for (int q = 0; q < 16; q++) v += A[s][y][q] * B[s][q][x];
      asm volatile("bar.arrive %0, 512;" ::"r"(3 + s) : "memory");
    }
    P[(R + y) * w + C + x] = v;
  } else {
    t -= 256;
    int y = t / 16, x = t % 16;
    for (int p = 0; p < ph; p++) {
      int s = p & 1;
      if (p >= 2) asm volatile("bar.sync %0, 512;" ::"r"(3 + s) : "memory");
      A[s][y][x] = M[(R + y) * w + p * 16 + x];
      B[s][y][x] = N[(p * 16 + y) * w + C + x];
      asm volatile("bar.arrive %0, 512;" ::"r"(1 + s) : "memory");
    }
    for (int p = ph < 2 ? 0 : ph - 2; p < ph; p++)
      asm volatile("bar.sync %0, 512;" ::"r"(3 + (p & 1)) : "memory");
  }
}
void solve(const float* M, const float* N, float* P, int w) {
  k<<<dim3(w / 16, w / 16), 512>>>(M, N, P, w);
}
