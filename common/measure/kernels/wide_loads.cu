// 16-byte loads from shared memory at strides of 1 to 9 of them, every third lane off.
__global__ void wide_loads(const float* M, const float* N, float* P, int n) {
  __shared__ float4 tile[32 * 9];
  int i = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.x; k < 32 * 9; k += 32) tile[k] = make_float4(M[k % n], N[k % n], k, 1);
  __syncthreads();
  float sum = 0;
  for (int stride = 1; stride <= 9; ++stride) {
    if ((threadIdx.x + stride) % 3 == 0) continue;
    float4 v = tile[threadIdx.x * stride];
    sum += v.x * v.y - v.z * v.w;
  }
  if (i < n * n) P[i] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  wide_loads<<<(n * n + 31) / 32, 32>>>(M, N, P, n);
}
