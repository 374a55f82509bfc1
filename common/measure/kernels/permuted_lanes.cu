// Shared loads by lanes in bit-reversed, mirrored and rotated order, 4 and 16 bytes.
__global__ void permuted_lanes(const float* M, const float* N, float* P, int n) {
  __shared__ float4 tile[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t] = make_float4(M[i % n], N[i % n], t, i);
  __syncthreads();
  int reversed = __brev(t) >> 26;
  const float* words = reinterpret_cast<const float*>(tile);
  float4 a = tile[reversed], b = tile[63 - t], c = tile[(t + 13) % 64];
  float sum = a.x * b.y - c.z + a.w * b.x + words[reversed * 3] - words[(t * 17) % 256];
  if (i < n * n) P[i] = sum + c.x;
}

void solve(const float* M, const float* N, float* P, int n) {
  permuted_lanes<<<(n * n + 63) / 64, 64>>>(M, N, P, n);
}
