#include "check.h"

// Sizes travel as one type; a thread's results are a struct of its own.
template <int Rows_, int Cols_, int Depth_, int Each_>
struct Traits {
  static constexpr int Rows = Rows_, Cols = Cols_, Depth = Depth_, Each = Each_;
  static constexpr int Across = Cols / Each, Down = Rows / Each;
  static constexpr int Threads = Across * Down;
};

struct View {
  const float* data;
  int rows, cols;
  __device__ float operator()(int r, int c) const {
    return r < rows && c < cols ? data[r * cols + c] : 0.0f;
  }
};

template <class T>
struct Block {
  float m[T::Rows][T::Depth];
  float n[T::Depth][T::Cols];

  __device__ void fill(View M, View N, int top, int left, int deep, int t) {
    for (int e = t; e < T::Rows * T::Depth; e += T::Threads)
      m[e / T::Depth][e % T::Depth] = M(top + e / T::Depth, deep + e % T::Depth);
    for (int e = t; e < T::Depth * T::Cols; e += T::Threads)
      n[e / T::Cols][e % T::Cols] = N(deep + e / T::Cols, left + e % T::Cols);
  }
};

template <class T>
__global__ void blocked(View M, View N, float* P) {
  __shared__ Block<T> s;
  const int t = threadIdx.x;
  const int v = t / T::Across, h = t % T::Across;
  const int top = blockIdx.y * T::Rows, left = blockIdx.x * T::Cols;
  float sum[T::Each][T::Each] = {};

  for (int deep = 0; deep < M.cols; deep += T::Depth) {
    s.fill(M, N, top, left, deep, t);
    __syncthreads();
    for (int d = 0; d < T::Depth; ++d) {
      float x[T::Each], y[T::Each];
      for (int e = 0; e < T::Each; ++e) {
        x[e] = s.m[v + e * T::Down][d];
        y[e] = s.n[d][h + e * T::Across];
      }
      for (int r = 0; r < T::Each; ++r)
        for (int c = 0; c < T::Each; ++c) sum[r][c] += x[r] * y[c];
    }
    __syncthreads();
  }

  for (int r = 0; r < T::Each; ++r) {
    const int row = top + v + r * T::Down;
    for (int c = 0; c < T::Each; ++c) {
      const int col = left + h + c * T::Across;
      if (row < M.rows && col < N.cols) P[row * N.cols + col] = sum[r][c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  using Chosen = Traits<64, 64, 16, 4>;
  const auto over = [](int whole, int part) { return (whole + part - 1) / part; };
  const dim3 grid(over(l, Chosen::Cols), over(j, Chosen::Rows));
  blocked<Chosen><<<grid, Chosen::Threads>>>(View{M, j, k}, View{N, k, l}, P);
  CHECK(cudaGetLastError());
}
