// Lab 05: flat block of 256, thin phases of 8, results 16 apart in both directions.
#include "check.h"

namespace cfg {
constexpr int Side = 64;     // block computes Side x Side
constexpr int Depth = 8;     // k per phase
constexpr int Lanes = 16;    // threads along each direction
constexpr int Per = Side / Lanes;
constexpr int Threads = Lanes * Lanes;
}  // namespace cfg

struct Patch {
  float v[cfg::Per][cfg::Per];
  __device__ void clear() {
    for (auto& line : v)
      for (float& x : line) x = 0.0f;
  }
  __device__ void outer(const float (&a)[cfg::Per], const float (&b)[cfg::Per]) {
#pragma unroll
    for (int p = 0; p < cfg::Per; ++p)
#pragma unroll
      for (int q = 0; q < cfg::Per; ++q) v[p][q] += a[p] * b[q];
  }
};

__global__ void gemm(const float* A, const float* B, float* C, int rows, int depth, int cols) {
  using namespace cfg;
  __shared__ float sa[Depth][Side];
  __shared__ float sb[Depth][Side];

  const int t = threadIdx.x;
  const int u = t % Lanes, v = t / Lanes;
  const long long top = (long long)blockIdx.y * Side;
  const long long left = (long long)blockIdx.x * Side;

  Patch acc;
  acc.clear();
  for (int base = 0; base < depth; base += Depth) {
    for (int q = 0; q < Side * Depth; q += Threads) {
      const int id = q + t;
      const int ar = id / Depth, ak = id % Depth;
      float x = 0.0f;
      if (top + ar < rows && base + ak < depth) x = A[(top + ar) * depth + base + ak];
      sa[ak][ar] = x;

      const int bk = id / Side, bc = id % Side;
      float y = 0.0f;
      if (base + bk < depth && left + bc < cols) y = B[(long long)(base + bk) * cols + left + bc];
      sb[bk][bc] = y;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < Depth; ++d) {
      float a[Per], b[Per];
#pragma unroll
      for (int p = 0; p < Per; ++p) {
        a[p] = sa[d][v + p * Lanes];
        b[p] = sb[d][u + p * Lanes];
      }
      acc.outer(a, b);
    }
    __syncthreads();
  }

  for (int p = 0; p < Per; ++p) {
    const long long r = top + v + p * Lanes;
    if (r >= rows) break;
    for (int q = 0; q < Per; ++q) {
      const long long c = left + u + q * Lanes;
      if (c < cols) C[r * cols + c] = acc.v[p][q];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto blocks = [](int n) { return (n + cfg::Side - 1) / cfg::Side; };
  dim3 grid(blocks(l), blocks(j));
  gemm<<<grid, cfg::Threads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
