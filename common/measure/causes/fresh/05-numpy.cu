// C[i0:i0+64, j0:j0+64] += A[i0:i0+64, p:p+8] @ B[p:p+8, j0:j0+64], eight rows by four columns a thread
#include "check.h"

template <int H, int W, int D, int RH, int RW>
__global__ void block_matmul(const float* a, const float* b, float* c, int rows, int inner, int cols) {
  constexpr int NX = W / RW;
  constexpr int NY = H / RH;
  constexpr int NTHREADS = NX * NY;
  __shared__ float aT[D * H];  // a[..., p:p+D].T.ravel()
  __shared__ float bs[D * W];

  const int rank = threadIdx.y * NX + threadIdx.x;
  const int i0 = blockIdx.y * H;
  const int j0 = blockIdx.x * W;

  float out[RH][RW];
#pragma unroll
  for (int q = 0; q < RH * RW; ++q) out[q / RW][q % RW] = 0.0f;

  int p = 0;
  while (p < inner) {
    for (int flat = rank; flat < H * D; flat += NTHREADS) {
      const int i = flat / D, d = flat % D;
      const bool valid = i0 + i < rows && p + d < inner;
      aT[d * H + i] = valid ? a[size_t(i0 + i) * inner + (p + d)] : 0.0f;
    }
    for (int flat = rank; flat < D * W; flat += NTHREADS) {
      const int d = flat / W, jj = flat % W;
      const bool valid = p + d < inner && j0 + jj < cols;
      bs[flat] = valid ? b[size_t(p + d) * cols + (j0 + jj)] : 0.0f;
    }
    __syncthreads();

#pragma unroll
    for (int d = 0; d < D; ++d) {
      float u[RH], v[RW];
#pragma unroll
      for (int q = 0; q < RH; ++q) u[q] = aT[d * H + threadIdx.y * RH + q];
#pragma unroll
      for (int q = 0; q < RW; ++q) v[q] = bs[d * W + q * NX + threadIdx.x];
#pragma unroll
      for (int q = 0; q < RH * RW; ++q) out[q / RW][q % RW] += u[q / RW] * v[q % RW];
    }
    __syncthreads();
    p += D;
  }

#pragma unroll
  for (int q = 0; q < RH * RW; ++q) {
    const int i = i0 + threadIdx.y * RH + q / RW;
    const int jj = j0 + q % RW * NX + threadIdx.x;
    if (i < rows && jj < cols) c[size_t(i) * cols + jj] = out[q / RW][q % RW];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto cdiv = [](int n, int d) { return (n + d - 1) / d; };
  const dim3 grid(cdiv(l, 64), cdiv(j, 64));
  const dim3 block(64 / 4, 64 / 8);
  block_matmul<64, 64, 8, 8, 4><<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
