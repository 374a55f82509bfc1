// Lab 05. Sums and operands live in a small struct with methods; the threads share the loading by
// rows: each half warp brings a row of M's tile. (C++ programmer, first GPU code)
#include "check.h"

namespace {

constexpr int SIDE = 64;   // of the block's square of P
constexpr int DEEP = 16;
constexpr int PER = 4;     // results of a thread in each direction
constexpr int LANES = SIDE / PER;

struct Patch {
  float v[PER][PER];
  __device__ void clear() {
#pragma unroll
    for (int a = 0; a < PER; ++a)
#pragma unroll
      for (int b = 0; b < PER; ++b) v[a][b] = 0.0f;
  }
  __device__ void outer(const float (&left)[PER], const float (&up)[PER]) {
#pragma unroll
    for (int a = 0; a < PER; ++a)
#pragma unroll
      for (int b = 0; b < PER; ++b) v[a][b] = fmaf(left[a], up[b], v[a][b]);
  }
};

__host__ __device__ constexpr int pieces(int n, int size) { return n / size + (n % size > 0); }

__global__ void patch_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float left_tile[SIDE][DEEP];
  __shared__ float up_tile[DEEP][SIDE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const long long y0 = (long long)blockIdx.y * SIDE;
  const long long x0 = (long long)blockIdx.x * SIDE;

  Patch patch;
  patch.clear();
  for (int k0 = 0; k0 < k; k0 += DEEP) {
    for (int g = 0; g < PER; ++g) {
      const long long y = y0 + ty + g * LANES;
      left_tile[ty + g * LANES][tx] = (y < j && k0 + tx < k) ? M[y * k + k0 + tx] : 0.0f;
      const long long x = x0 + tx + g * LANES;
      up_tile[ty][tx + g * LANES] =
          (x < l && k0 + ty < k) ? N[(long long)(k0 + ty) * l + x] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < DEEP; ++d) {
      float left[PER], up[PER];
#pragma unroll
      for (int g = 0; g < PER; ++g) {
        left[g] = left_tile[ty + g * LANES][d];
        up[g] = up_tile[d][tx + g * LANES];
      }
      patch.outer(left, up);
    }
    __syncthreads();
  }

#pragma unroll
  for (int a = 0; a < PER; ++a) {
    const long long y = y0 + ty + a * LANES;
#pragma unroll
    for (int b = 0; b < PER; ++b) {
      const long long x = x0 + tx + b * LANES;
      if (y < j && x < l) P[y * l + x] = patch.v[a][b];
    }
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 threads(LANES, LANES);
  const dim3 blocks(pieces(l, SIDE), pieces(j, SIDE));
  patch_kernel<<<blocks, threads>>>(M, N, P, j, k, l);
  CHECK(cudaPeekAtLastError());
}
