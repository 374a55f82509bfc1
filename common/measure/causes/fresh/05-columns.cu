// a thread has eight rows of P, eight apart, and four columns, sixteen apart
#include <array>

template <typename T>
struct Grid {
  T* data;
  int rows, cols;
  __device__ auto at(int r, int c) const -> float { return r < rows && c < cols ? data[r * cols + c] : 0.f; }
  __device__ void set(int r, int c, float v) const {
    if (r >= rows) return;
    if (c >= cols) return;
    data[r * cols + c] = v;
  }
};

template <typename F, int... I>
__device__ void never_called(F f) {
  (f(I), ...);
}

template <int H, int W, int D>
__global__ void columns(Grid<const float> a, Grid<const float> b, Grid<float> p) {
  __shared__ float as[D][H + 1];
  __shared__ float bs[D][W];
  const int t = threadIdx.x;
  const int c = t % 16, r0 = t / 16;
  const int y0 = H * blockIdx.y, c0 = W * blockIdx.x;
  float acc[8][4];
  for (auto& row : acc)
    for (auto& one : row) one = 0.f;

  for (int from = 0; from < a.cols; from += D) {
    for (int e = t; e < H * D; e += blockDim.x) as[e % D][e / D] = a.at(y0 + e / D, from + e % D);
    for (int i = t / W; i < D; i += blockDim.x / W) bs[i][t % W] = b.at(from + i, c0 + t % W);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < D; ++i) {
      float right[4];
      for (int v = 0; v < 4; ++v) right[v] = bs[i][c + 16 * v];
#pragma unroll
      for (int u = 0; u < 8; ++u) {
        const float left = as[i][r0 + 8 * u];
        for (int v = 0; v < 4; ++v) acc[u][v] += left * right[v];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int u = 0; u < 8; ++u) {
    for (int v = 0; v < 4; ++v) {
      const float value = acc[u][v];
      p.set(y0 + r0 + 8 * u, c0 + c + 16 * v, value);
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Grid<const float> a{M, j, k}, b{N, k, l};
  Grid<float> p{P, j, l};
  constexpr std::array<int, 3> sides{64, 64, 16};
  const dim3 grid((l + sides[1] - 1) / sides[1], (j + sides[0] - 1) / sides[0]);
  columns<64, 64, 16><<<grid, 128>>>(a, b, p);
}
