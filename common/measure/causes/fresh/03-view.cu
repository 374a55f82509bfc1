// Lab 03 with a view onto a matrix that answers 0 outside.
#include "check.h"

struct View {
  const float* data;
  int size;

  __device__ bool has(int r, int c) const { return r < size && c < size; }
  __device__ float get(int r, int c) const {
    if (!has(r, c)) return 0.0f;
    return data[r * size + c];
  }
};

template <int S>
struct Tiles {
  float m[S][S];
  float n[S][S];
};

template <int S>
__global__ void product(View m, View n, float* p) {
  __shared__ Tiles<S> tiles;
  const dim3 me = threadIdx;
  const int top = blockIdx.y * S;
  const int left = blockIdx.x * S;

  auto fill = [&](int begin) {
    tiles.m[me.y][me.x] = m.get(top + me.y, begin + me.x);
    tiles.n[me.y][me.x] = n.get(begin + me.y, left + me.x);
  };
  auto dot = [&]() {
    float d = 0.0f;
    for (int i = 0; i != S; ++i) d += tiles.m[me.y][i] * tiles.n[i][me.x];
    return d;
  };

  float value = 0.0f;
  for (int begin = 0; begin < m.size; begin += S) {
    fill(begin);
    __syncthreads();
    value += dot();
    __syncthreads();
  }
  if (m.has(top + me.y, left + me.x)) {
    p[(top + me.y) * m.size + left + me.x] = value;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  constexpr int side = 16;
  const unsigned count = (width + side - 1) / side;
  product<side><<<dim3{count, count}, dim3{side, side}>>>(View{M, width}, View{N, width}, P);
  CHECK(cudaGetLastError());
}
