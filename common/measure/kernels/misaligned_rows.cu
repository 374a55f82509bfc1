// Loads and stores that begin 1, 3 and 7 words after a multiple of 32 bytes.
__global__ void misaligned_rows(const float* M, const float* N, float* P, int n) {
  int i = blockIdx.x * 192 + threadIdx.x;
  if (i + 7 >= n * n) return;
  float value = M[i + 1] * N[i + 3] - M[i + 7];
  P[i + 3] = value;
  if (i < 3) P[i] = value;
  if (i >= n * n - 12) P[i + 7] = value;
}

void solve(const float* M, const float* N, float* P, int n) {
  cudaMemset(P, 0, sizeof(float) * n * n);
  misaligned_rows<<<(n * n + 191) / 192, 192>>>(M, N, P, n);
}
