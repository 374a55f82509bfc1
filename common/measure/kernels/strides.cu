// Reads at strides of 2, 3 and 33 words and from a start that is no multiple of a sector.
__global__ void strides(const float* M, const float* N, float* P, int n) {
  int count = n * n;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = M[(i * 2) % count] + N[(i * 3 + 5) % count];
  P[i] = sum + M[(i * 33LL) % count] - N[(i + 7) % count];
}

void solve(const float* M, const float* N, float* P, int n) {
  strides<<<(n * n + 127) / 128, 128>>>(M, N, P, n);
}
