// Every fifth thread returns before the shared loads; the loop's length differs by lane.
__global__ void early_lanes(const float* M, const float* N, float* P, int n) {
  __shared__ float tile[160];
  int t = threadIdx.x, i = blockIdx.x * 160 + t;
  tile[t] = i < n * n ? M[i] : 0;
  __syncthreads();
  if (i >= n * n) return;
  P[i] = N[i];
  if (t % 5 == 0) return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < t % 7 + 1; ++k) sum += tile[(t * 3 + k * k) % 160];
  P[i] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  early_lanes<<<(n * n + 159) / 160, 160>>>(M, N, P, n);
}
