// Branches that leave every second, every third, one and no lane of a warp.
__global__ void masks(const float* M, const float* N, float* P, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  float value = 0;
  if (i & 1) value += M[i];
  if (i % 3 == 0) value -= N[i];
  if ((i & 31) == 17) value += N[n * n - 1 - i];
  if (M[i] > 2.0f) value = 99;  // no lane: the data lies in [-1, 1]
  for (int k = 0; k < (i & 7); ++k) value = value * 0.5f + M[(i + k) % (n * n)];
  P[i] = value;
}

void solve(const float* M, const float* N, float* P, int n) {
  masks<<<(n * n + 95) / 96, 96>>>(M, N, P, n);
}
