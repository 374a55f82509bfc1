// Shared memory read and written at strides of 1, 2, 4, 8, 16, 32 and 33 words.
template <int STRIDE>
__device__ float pass(float* tile, float value) {
  int t = threadIdx.x;
  __syncthreads();
  tile[t * STRIDE % 2112] = value;
  __syncthreads();
  return tile[(t + 1) % 64 * STRIDE % 2112];
}

__global__ void conflicts(const float* M, const float* N, float* P, int n) {
  __shared__ float tile[2112];
  int i = blockIdx.x * 64 + threadIdx.x;
  for (int k = threadIdx.x; k < 2112; k += 64) tile[k] = 0;
  float value = i < n * n ? M[i] + N[i] : 0;
  value = pass<1>(tile, value) + pass<33>(tile, value);
  value += pass<2>(tile, value);
  value += pass<4>(tile, value);
  value += pass<8>(tile, value);
  value += pass<16>(tile, value);
  value += pass<32>(tile, value);
  if (i < n * n) P[i] = value;
}

void solve(const float* M, const float* N, float* P, int n) {
  conflicts<<<(n * n + 63) / 64, 64>>>(M, N, P, n);
}
