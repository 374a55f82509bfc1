// Lab 07, engine-style: quads everywhere. 128 x 64 per block, 8 rows x 1 quad per thread.
#include "check.h"

typedef float4 Quad;

constexpr int TileRows = 128;
constexpr int TileCols = 64;
constexpr int TileDepth = 16;
constexpr int QuadsDeep = TileDepth / 4;   // quads in a row of the left tile: 4
constexpr int QuadsWide = TileCols / 4;    // quads in a row of the right tile: 16
constexpr int Threads = 256;
constexpr int RowsEach = TileRows / (Threads / QuadsWide);  // 8

struct Matrix {
  const float* ptr;
  int rows, cols;

  __device__ Quad Fetch(int r, int c) const {
    Quad q{0, 0, 0, 0};
    if (r >= rows || c >= cols) return q;
    const float* src = ptr + size_t(r) * cols + c;
    if ((cols & 3) == 0) return *reinterpret_cast<const Quad*>(src);
    q.x = src[0];
    if (c + 1 < cols) q.y = src[1];
    if (c + 2 < cols) q.z = src[2];
    if (c + 3 < cols) q.w = src[3];
    return q;
  }
};

__device__ void Madd(Quad& acc, float s, const Quad& v) {
  acc.x += s * v.x;
  acc.y += s * v.y;
  acc.z += s * v.z;
  acc.w += s * v.w;
}

__global__ void QuadKernel(Matrix A, Matrix B, float* out) {
  __shared__ Quad left[TileRows][QuadsDeep];
  __shared__ Quad right[TileDepth][QuadsWide];

  const int t = threadIdx.x;
  const int qx = t % QuadsWide, qy = t / QuadsWide;
  const int originR = blockIdx.y * TileRows;
  const int originC = blockIdx.x * TileCols;

  Quad acc[RowsEach] = {};
  for (int z = 0; z < A.cols; z += TileDepth) {
    for (int n = t; n < TileRows * QuadsDeep; n += Threads) {
      int r = n / QuadsDeep, q = n % QuadsDeep;
      left[r][q] = A.Fetch(originR + r, z + 4 * q);
    }
    right[qy][qx] = B.Fetch(z + qy, originC + 4 * qx);
    __syncthreads();

    for (int q = 0; q < QuadsDeep; ++q) {
      const Quad b0 = right[4 * q + 0][qx];
      const Quad b1 = right[4 * q + 1][qx];
      const Quad b2 = right[4 * q + 2][qx];
      const Quad b3 = right[4 * q + 3][qx];
      for (int r = 0; r < RowsEach; ++r) {
        const Quad a = left[qy + 16 * r][q];
        Madd(acc[r], a.x, b0);
        Madd(acc[r], a.y, b1);
        Madd(acc[r], a.z, b2);
        Madd(acc[r], a.w, b3);
      }
    }
    __syncthreads();
  }

  const int col = originC + 4 * qx;
  for (int r = 0; r < RowsEach; ++r) {
    const int row = originR + qy + 16 * r;
    if (row >= A.rows || col >= B.cols) continue;
    float* dst = out + size_t(row) * B.cols + col;
    if (B.cols % 4 == 0) {
      *reinterpret_cast<Quad*>(dst) = acc[r];
    } else {
      dst[0] = acc[r].x;
      if (col + 1 < B.cols) dst[1] = acc[r].y;
      if (col + 2 < B.cols) dst[2] = acc[r].z;
      if (col + 3 < B.cols) dst[3] = acc[r].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Matrix A{M, j, k}, B{N, k, l};
  unsigned across = (l + TileCols - 1) / TileCols;
  unsigned down = (j + TileRows - 1) / TileRows;
  QuadKernel<<<dim3(across, down), Threads>>>(A, B, P);
  CHECK(cudaGetLastError());
}
