// Lab 10: fragments as small structs that know how to load and multiply themselves.
#include "check.h"
#include "tensor.h"

typedef __nv_bfloat16 half_t;

template <int Rows, int Cols>
struct Tile {
  static constexpr int pitch = Cols + 8;
  half_t at[Rows][pitch];

  // Rounds A[row0.., col0..] into the tile, zeros where A has ended.
  __device__ void fill(const float* A, int rows, int cols, int row0, int col0) {
    const bool vec = cols % 4 == 0;
    constexpr int quads = Cols / 4;
    for (int n = threadIdx.x; n < Rows * quads; n += blockDim.x) {
      const int r = n / quads, c = n % quads * 4;
      const int row = row0 + r, col = col0 + c;
      float v[4] = {0, 0, 0, 0};
      if (row < rows) {
        const float* from = A + size_t(row) * cols + col;
        if (vec) {
          if (col < cols) {
            const float4 f = *reinterpret_cast<const float4*>(from);
            v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
          }
        } else {
#pragma unroll
          for (int q = 0; q < 4; ++q)
            if (col + q < cols) v[q] = from[q];
        }
      }
      __nv_bfloat162* to = reinterpret_cast<__nv_bfloat162*>(&at[r][c]);
      __nv_bfloat162 two[2] = {__floats2bfloat162_rn(v[0], v[1]),
                               __floats2bfloat162_rn(v[2], v[3])};
      *reinterpret_cast<uint2*>(to) = *reinterpret_cast<uint2*>(two);
    }
  }
};

constexpr int Edge = 128, Slice = 64;

struct Warp {
  int lane, row, col;
  __device__ Warp() {
    lane = threadIdx.x & 31;
    const int id = threadIdx.x >> 5;
    row = (id & 1) * 64;
    col = (id >> 1) * 32;
  }
};

__global__ void __launch_bounds__(256, 2)
    tc(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ __align__(16) Tile<Edge, Slice> tm;
  __shared__ __align__(16) Tile<Slice, Edge> tn;
  const Warp w;
  const int top = blockIdx.y * Edge, left = blockIdx.x * Edge;
  const int r16 = w.lane & 15, c8 = (w.lane >> 4) * 8;  // the row that this lane names

  float acc[4][4][4] = {};
  for (int z = 0; z < k; z += Slice) {
    tm.fill(M, j, k, top, z);
    tn.fill(N, k, l, z, left);
    __syncthreads();
    for (int s = 0; s < Slice; s += 16) {
      uint32_t b[2][4];
      load_matrices_transposed(b[0], &tn.at[s + r16][w.col + c8]);
      load_matrices_transposed(b[1], &tn.at[s + r16][w.col + 16 + c8]);
#pragma unroll
      for (int y = 0; y < 4; ++y) {
        uint32_t a[4];
        load_matrices(a, &tm.at[w.row + 16 * y + r16][s + c8]);
        multiply_add(acc[y][0], a, &b[0][0]);
        multiply_add(acc[y][1], a, &b[0][2]);
        multiply_add(acc[y][2], a, &b[1][0]);
        multiply_add(acc[y][3], a, &b[1][2]);
      }
    }
    __syncthreads();
  }

  const int g = w.lane >> 2, t = (w.lane & 3) * 2;
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    const int row = top + w.row + 8 * y + g;
    if (row >= j) continue;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int col = left + w.col + 8 * x + t;
      const float v0 = acc[y / 2][x][y % 2 * 2], v1 = acc[y / 2][x][y % 2 * 2 + 1];
      float* to = P + size_t(row) * l + col;
      if ((l & 1) == 0) {
        if (col < l) *reinterpret_cast<float2*>(to) = make_float2(v0, v1);
      } else {
        if (col < l) to[0] = v0;
        if (col + 1 < l) to[1] = v1;
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto up = [](int n) { return (n + Edge - 1) / Edge; };
  tc<<<dim3(up(l), up(j)), 256>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
