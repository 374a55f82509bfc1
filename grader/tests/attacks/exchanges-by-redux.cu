constexpr int kRows = 64;  // of P, a column of which each lane computes

// The lane's value, by a reduction to which the others bring 0.
__device__ float from(float value, int lane) {
  unsigned bits = threadIdx.x == lane ? __float_as_uint(value) : 0;
  return __uint_as_float(__reduce_or_sync(0xFFFFFFFFu, bits));
}

// No shared memory: each factor from M comes from another lane's register.
__global__ void multiply(const float* M, const float* N, float* P, int j, int k, int l) {
  int lane = threadIdx.x, col = blockIdx.x * 32 + lane, row = blockIdx.y * kRows;
  float sum[kRows] = {};
  for (int ph = 0; ph < k; ph += 32) {
    float m[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      m[r] = row + r < j && ph + lane < k ? M[size_t(row + r) * k + ph + lane] : 0.0f;
    for (int i = 0; i < 32; ++i) {
      float n = ph + i < k && col < l ? N[size_t(ph + i) * l + col] : 0.0f;
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum[r] += from(m[r], i) * n;
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    if (row + r < j && col < l) P[size_t(row + r) * l + col] = sum[r];
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  multiply<<<dim3((l + 31) / 32, (j + kRows - 1) / kRows), 32>>>(M, N, P, j, k, l);
}
