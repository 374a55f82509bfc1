// Lab 02 from a numpy person: P = einsum("ik,kj->ij"). One flat block, one flat dynamic buffer.
#include "check.h"

template <int Rows, int Cols>
struct Shape {
  static constexpr int size = Rows * Cols;
  __device__ static int ravel(int r, int c) { return r * Cols + c; }
  __device__ static int2 unravel(int flat) { return make_int2(flat / Cols, flat % Cols); }
};

constexpr int B = 32;
using Patch = Shape<B, B>;
constexpr int LANES = 256;
constexpr int EACH = Patch::size / LANES;  // elements of P for a thread

__global__ void einsum(const float* a, const float* b, float* out, int n) {
  extern __shared__ float scratch[];
  float* pa = scratch;
  float* pb = scratch + Patch::size;

  const int t = threadIdx.x;
  const float* a0 = a + blockIdx.y * B * n;
  const float* b0 = b + blockIdx.x * B;
  float acc[EACH];
  for (float& x : acc) x = 0.0f;

  for (int k0 = 0; k0 < n; k0 += B) {
    for (int e = 0; e < EACH; ++e) {
      const int flat = t + e * LANES;
      const int2 at = Patch::unravel(flat);
      pa[flat] = a0[at.x * n + k0 + at.y];
      pb[flat] = b0[(k0 + at.x) * n + at.y];
    }
    __syncthreads();
    for (int e = 0; e < EACH; ++e) {
      const int2 at = Patch::unravel(t + e * LANES);
      for (int k = 0; k < B; ++k) acc[e] += pa[Patch::ravel(at.x, k)] * pb[Patch::ravel(k, at.y)];
    }
    __syncthreads();
  }

  float* out0 = out + blockIdx.y * B * n + blockIdx.x * B;
  for (int e = 0; e < EACH; ++e) {
    const int2 at = Patch::unravel(t + e * LANES);
    out0[at.x * n + at.y] = acc[e];
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const dim3 grid(width / B, width / B);
  const size_t shared = 2 * Patch::size * sizeof(float);
  einsum<<<grid, LANES, shared>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
