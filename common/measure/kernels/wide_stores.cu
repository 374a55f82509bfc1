// 8- and 16-byte stores to shared memory: at strides, permuted, by half the lanes, to shared places.
__global__ void wide_stores(const float* M, const float* N, float* P, int n) {
  __shared__ float4 quads[64 * 5];
  __shared__ float2 pairs[64 * 3];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  float x = i < n * n ? M[i] : 0;
  quads[5 * t] = make_float4(x, 1, 2, 3);
  pairs[3 * (t ^ 5)] = make_float2(x, 4);
  __syncthreads();
  if (t % 2) quads[(t * 7 + 1) % 64] = make_float4(x, x, x, 5);
  if (t & 16) pairs[t / 4] = make_float2(6, 7);
  __syncthreads();
  if (i < n * n) P[i] = quads[5 * t].x + quads[5 * t].y + pairs[3 * t].x * pairs[3 * t].y;
}

void solve(const float* M, const float* N, float* P, int n) {
  wide_stores<<<(n * n + 63) / 64, 64>>>(M, N, P, n);
}
