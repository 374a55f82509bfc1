// 8- and 16-byte accesses, some lanes masked off.
__global__ void vectors(const float* M, const float* N, float* P, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n / 4) return;
  float4 m = reinterpret_cast<const float4*>(M)[i];
  float2 a = reinterpret_cast<const float2*>(N)[2 * i], b = reinterpret_cast<const float2*>(N)[2 * i + 1];
  float4 sum = make_float4(m.x + a.x, m.y * a.y, m.z - b.x, m.w + b.y * m.x);
  if (i % 5 != 4) {
    reinterpret_cast<float4*>(P)[i] = sum;
  } else {
    for (int k = 0; k < 4; ++k) P[4 * i + k] = m.x;
  }
}

void solve(const float* M, const float* N, float* P, int n) {
  vectors<<<(n * n / 4 + 255) / 256, 256>>>(M, N, P, n);
}
