// Integer arithmetic: division and remainder by variables and constants, shifts, bit fields, multiply high, saturation.
__global__ void integers(const float* M, const float* N, float* P, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  int a = __float_as_int(M[i]), b = __float_as_int(N[i]) | 1;
  unsigned u = a, v = b;
  long long w = (long long)a * b + i;
  int result = a / b + a % 7 + (int)(u / v) + (int)(u % 1000u) + __mulhi(a, b) + (int)__umulhi(u, v);
  result ^= (a >> (i & 31)) + (int)(u >> (i % 37)) + (a << (b & 15));
  result += __popc(u) * 3 + __clz(a) * 5 + __ffs(b) + (int)__brev(u) + (int)__byte_perm(u, v, 0x2564);
  result += (int)(w / 12345) + (int)(w % (b | 3)) + (int)(w >> 33) + max(a, b) - min(u, v) + abs(b);
  result += __float2int_rn(M[i] * 1e10f) + (int)__float2uint_rz(N[i] * 1000.0f) + (int)(signed char)a + (int)(unsigned short)b;
  P[i] = (float)(result & 0xffffff) + __int2float_rd(result) * 1e-6f;
}

void solve(const float* M, const float* N, float* P, int n) {
  integers<<<(n * n + 127) / 128, 128>>>(M, N, P, n);
}
