#include <cuda_runtime.h>

// Every thread loads four neighbours of a row where rows are aligned, with pointers to float4.
constexpr int S = 64, D = 16, LANES = 16;

template <bool ALIGNED>
__device__ float4 quad(const float* p, int left) {
  if (left <= 0) return make_float4(0.f, 0.f, 0.f, 0.f);
  if (ALIGNED) return *(const float4*)p;
  float4 q = make_float4(p[0], 0.f, 0.f, 0.f);
  if (left > 1) q.y = p[1];
  if (left > 2) q.z = p[2];
  if (left > 3) q.w = p[3];
  return q;
}

__device__ float4 quad_of(const float* a, int row, int col, int rows, int cols) {
  const float* p = a + (size_t)row * cols + col;
  const int left = row < rows ? cols - col : 0;
  return cols % 4 == 0 ? quad<true>(p, left) : quad<false>(p, left);
}

__device__ void axpy(float4& y, float a, const float4& x) {
  y.x += a * x.x;
  y.y += a * x.y;
  y.z += a * x.z;
  y.w += a * x.w;
}

__global__ void lines(const float* A, const float* B, float* C, int j, int k, int l) {
  __shared__ float4 as[S][D / 4];
  __shared__ float4 bs[D][S / 4];
  const int t = threadIdx.y * LANES + threadIdx.x;
  const int r0 = S * blockIdx.y, c0 = S * blockIdx.x;
  float4 y[4];
  for (int i = 0; i < 4; ++i) y[i] = make_float4(0.f, 0.f, 0.f, 0.f);

  for (int step = 0; step < k; step += D) {
    as[t / 4][t % 4] = quad_of(A, r0 + t / 4, step + 4 * (t % 4), j, k);
    bs[t / 16][t % 16] = quad_of(B, step + t / 16, c0 + 4 * (t % 16), k, l);
    __syncthreads();
    for (int d = 0; d < D / 4; ++d) {
      const float4 x0 = bs[4 * d][threadIdx.x], x1 = bs[4 * d + 1][threadIdx.x];
      const float4 x2 = bs[4 * d + 2][threadIdx.x], x3 = bs[4 * d + 3][threadIdx.x];
      for (int i = 0; i < 4; ++i) {
        const float4 a = as[threadIdx.y + LANES * i][d];
        axpy(y[i], a.x, x0);
        axpy(y[i], a.y, x1);
        axpy(y[i], a.z, x2);
        axpy(y[i], a.w, x3);
      }
    }
    __syncthreads();
  }

  const int col = c0 + 4 * threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    const int row = r0 + threadIdx.y + LANES * i;
    if (row >= j) return;
    float* out = C + (size_t)row * l + col;
    if (l % 4 == 0) {
      if (col < l) *(float4*)out = y[i];
    } else {
      if (col < l) out[0] = y[i].x;
      if (col + 1 < l) out[1] = y[i].y;
      if (col + 2 < l) out[2] = y[i].z;
      if (col + 3 < l) out[3] = y[i].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto parts = [](int length) { return unsigned((length + S - 1) / S); };
  lines<<<dim3{parts(l), parts(j)}, dim3{LANES, LANES}>>>(M, N, P, j, k, l);
}
