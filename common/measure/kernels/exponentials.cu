// Library functions built on the approximate units, one by column: expf, logf, sinf, cosf, powf, tanhf, rsqrtf, and
// the intrinsics below them.
__device__ float pick(int which, float a, float b) {
  switch (which) {
    case 0: return expf(a);
    case 1: return logf(2.0f + b);
    case 2: return sinf(3.0f * a);
    case 3: return cosf(b);
    case 4: return powf(1.5f + a * 0.5f, b);
    case 5: return tanhf(a);
    case 6: return rsqrtf(2.0f + b);
    case 7: return exp2f(a);
    case 8: return log2f(2.0f + b);
    case 9: return __sinf(a);
    case 10: return __cosf(a);
    case 11: return __fdividef(a, 2.0f + b);
    case 12: return __frsqrt_rn(2.0f + b);
    case 13: return __expf(a);
    case 14: return __logf(2.0f + b);
    default: return erff(a);
  }
}

__global__ void exponentials(const float* M, const float* N, float* P, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * n) P[i] = pick(i % n % 16, M[i], N[i]);
}

void solve(const float* M, const float* N, float* P, int n) {
  exponentials<<<(n * n + 255) / 256, 256>>>(M, N, P, n);
}
