#include "check.h"
#include "tensor.h"

// A warp's tile is an object: it multiplies what lies in the block's tiles and stores its sums.
namespace mm {

typedef __nv_bfloat16 b16;
constexpr int kRows = 128, kCols = 128, kDeep = 64, kPad = 8;

struct Shared {
  b16 m[kRows][kDeep + kPad];
  b16 n[kDeep][kCols + kPad];
};

struct Problem {
  const float *m, *n;
  float* p;
  int j, k, l;
};

__device__ void four(b16* to, const float* a, int rows, int cols, int r, int c) {
  float v[4] = {0, 0, 0, 0};
  const float* at = a + (size_t)r * cols + c;
  if (r < rows && cols % 4 == 0 && c < cols) {
    const float4 q = *reinterpret_cast<const float4*>(at);
    v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
  } else if (r < rows) {
    for (int i = 0; i < 4; ++i)
      if (c + i < cols) v[i] = at[i];
  }
  __nv_bfloat162 two[2] = {__floats2bfloat162_rn(v[0], v[1]), __floats2bfloat162_rn(v[2], v[3])};
  *reinterpret_cast<uint2*>(to) = *reinterpret_cast<uint2*>(two);
}

class WarpTile {
 public:
  __device__ WarpTile() : lane_(threadIdx.x % 32), row_(threadIdx.x / 32 / 4 * 64), col_(threadIdx.x / 32 % 4 * 32) {}

  __device__ void multiply(const Shared& s) {
    for (int d = 0; d < kDeep; d += 16) {
      uint32_t a[4][4], b[2][4];
      for (int y = 0; y < 4; ++y) load_matrices(a[y], &s.m[row_ + 16 * y + lane_ % 16][d + lane_ / 16 * 8]);
      for (int x = 0; x < 2; ++x) load_matrices_transposed(b[x], &s.n[d + lane_ % 16][col_ + 16 * x + lane_ / 16 * 8]);
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) multiply_add(sum_[y][x], a[y], b[x / 2] + x % 2 * 2);
    }
  }

  __device__ void store(const Problem& of) const {
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x)
        for (int h = 0; h < 2; ++h) {
          const int r = blockIdx.y * kRows + row_ + 16 * y + 8 * h + lane_ / 4;
          const int c = blockIdx.x * kCols + col_ + 8 * x + lane_ % 4 * 2;
          if (r >= of.j) continue;
          float* to = of.p + (size_t)r * of.l + c;
          if (of.l % 2 == 0 && c < of.l) {
            *reinterpret_cast<float2*>(to) = make_float2(sum_[y][x][2 * h], sum_[y][x][2 * h + 1]);
          } else {
            if (c < of.l) to[0] = sum_[y][x][2 * h];
            if (c + 1 < of.l) to[1] = sum_[y][x][2 * h + 1];
          }
        }
  }

 private:
  int lane_, row_, col_;
  float sum_[4][4][4] = {};
};

__global__ void __launch_bounds__(256, 2) product(Problem of) {
  __shared__ __align__(16) Shared s;
  WarpTile tile;
  for (int z = 0; z < of.k; z += kDeep) {
    for (int e = threadIdx.x * 4; e < kRows * kDeep; e += 1024)
      four(&s.m[e / kDeep][e % kDeep], of.m, of.j, of.k, blockIdx.y * kRows + e / kDeep, z + e % kDeep);
    for (int e = threadIdx.x * 4; e < kDeep * kCols; e += 1024)
      four(&s.n[e / kCols][e % kCols], of.n, of.k, of.l, z + e / kCols, blockIdx.x * kCols + e % kCols);
    __syncthreads();
    tile.multiply(s);
    __syncthreads();
  }
  tile.store(of);
}

}  // namespace mm

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const mm::Problem of = {M, N, P, j, k, l};
  mm::product<<<dim3((l + mm::kCols - 1) / mm::kCols, (j + mm::kRows - 1) / mm::kRows), 256>>>(of);
  CHECK(cudaGetLastError());
}
