// Division, reciprocal, square root and their roundings: IEEE results, also for subnormal and huge operands.
__global__ void division(const float* M, const float* N, float* P, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  float a = M[i], b = N[i];
  float result = a / b + sqrtf(fabsf(a)) + 1.0f / (b + 3.0f);
  result += __fdiv_rz(a, b) * 0.25f + __fsqrt_ru(fabsf(b));
  result += (a * 1e-38f) / (b * 4.0f) * 1e38f;
  result += fmodf(a * 100.0f, 7.0f) + truncf(b * 9.0f) + rintf(a * 33.0f) + floorf(b * 5.0f);
  P[i] = result;
}

void solve(const float* M, const float* N, float* P, int n) {
  division<<<(n * n + 255) / 256, 256>>>(M, N, P, n);
}
