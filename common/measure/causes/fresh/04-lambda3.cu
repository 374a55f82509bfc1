// Lab 04: rectangular, with views and a tile size as a template parameter.
#include "check.h"

struct View {
  const float* ptr;
  int rows, cols;

  __device__ float at(int r, int c) const {
    if (r >= rows || c >= cols) return 0.0f;
    return ptr[static_cast<size_t>(r) * cols + c];
  }
};

template <int Tile>
__global__ void gemm(View a, View b, float* c) {
  __shared__ float sa[Tile][Tile];
  __shared__ float sb[Tile][Tile];

  const int x = threadIdx.x, y = threadIdx.y;
  const int row = y + Tile * blockIdx.y;
  const int col = x + Tile * blockIdx.x;

  auto fill = [&](int start) {
    sa[y][x] = a.at(row, start + x);
    sb[y][x] = b.at(start + y, col);
  };
  auto dot = [&] {
    float s = 0.0f;
#pragma unroll
    for (int q = 0; q < Tile; ++q) s = fmaf(sa[y][q], sb[q][x], s);
    return s;
  };

  float value = 0.0f;
  for (int start = 0; start < a.cols; start += Tile) {
    fill(start);
    __syncthreads();
    value += dot();
    __syncthreads();
  }

  if (row < a.rows && col < b.cols) c[static_cast<size_t>(row) * b.cols + col] = value;
}

template <int Tile>
static void launch(const View& a, const View& b, float* c) {
  const auto up = [](int n) { return (n + Tile - 1) / Tile; };
  gemm<Tile><<<dim3(up(b.cols), up(a.rows)), dim3(Tile, Tile)>>>(a, b, c);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  launch<16>(View{M, j, k}, View{N, k, l}, P);
}
