// Library functions built on the approximate units: expf, logf, sinf, powf, tanhf, rsqrtf.
__global__ void exponentials(const float* M, const float* N, float* P, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  float a = M[i], b = N[i];
  P[i] = expf(a) + logf(2.0f + b) + sinf(3.0f * a) + cosf(b) + powf(1.5f + a * 0.5f, b) + tanhf(a) + rsqrtf(2.0f + b);
}

void solve(const float* M, const float* N, float* P, int n) {
  exponentials<<<(n * n + 255) / 256, 256>>>(M, N, P, n);
}
