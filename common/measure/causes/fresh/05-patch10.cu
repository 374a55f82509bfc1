// Lab 05 with a template for the shape and a struct for what a thread computes.
#include "check.h"

template <int H, int W>
struct Patch {
  float value[H][W];

  __device__ void clear() {
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) value[y][x] = 0.0f;
  }
  __device__ void addOuter(const float (&column)[H], const float (&row)[W]) {
    for (int y = 0; y < H; ++y)
      for (int x = 0; x < W; ++x) value[y][x] += column[y] * row[x];
  }
};

struct Shape {
  static constexpr int rows = 128, cols = 64, depth = 8;  // of a block's tiles
  static constexpr int h = 8, w = 4;                      // of a thread's patch
  static constexpr int threadsX = cols / w, threadsY = rows / h;
  static constexpr int threads = threadsX * threadsY;
};

template <class T>
__global__ void patchKernel(const float* __restrict__ M, const float* __restrict__ N,
                            float* __restrict__ P, int j, int k, int l) {
  __shared__ float ms[T::depth][T::rows];
  __shared__ float ns[T::depth][T::cols];

  const int id = threadIdx.y * T::threadsX + threadIdx.x;
  const int row0 = blockIdx.y * T::rows;
  const int col0 = blockIdx.x * T::cols;

  Patch<T::h, T::w> patch;
  patch.clear();

  for (int step = 0; step < k; step += T::depth) {
    for (int n = id; n < T::rows * T::depth; n += T::threads) {
      const int y = n / T::depth, x = n % T::depth;
      const bool inside = row0 + y < j && step + x < k;
      ms[x][y] = inside ? M[size_t(row0 + y) * k + (step + x)] : 0.0f;
    }
    for (int n = id; n < T::depth * T::cols; n += T::threads) {
      const int y = n / T::cols, x = n % T::cols;
      const bool inside = step + y < k && col0 + x < l;
      ns[y][x] = inside ? N[size_t(step + y) * l + (col0 + x)] : 0.0f;
    }
    __syncthreads();

    for (int d = 0; d < T::depth; ++d) {
      float column[T::h], row[T::w];
      for (int y = 0; y < T::h; ++y) column[y] = ms[d][threadIdx.y * T::h + y];
      for (int x = 0; x < T::w; ++x) row[x] = ns[d][threadIdx.x + x * T::threadsX];
      patch.addOuter(column, row);
    }
    __syncthreads();
  }

  for (int y = 0; y < T::h; ++y) {
    const int row = row0 + threadIdx.y * T::h + y;
    if (row >= j) break;
    for (int x = 0; x < T::w; ++x) {
      const int col = col0 + threadIdx.x + x * T::threadsX;
      if (col < l) P[size_t(row) * l + col] = patch.value[y][x];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const auto parts = [](int n, int size) { return (n + size - 1) / size; };
  const dim3 grid(parts(l, Shape::cols), parts(j, Shape::rows));
  patchKernel<Shape><<<grid, dim3(Shape::threadsX, Shape::threadsY)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
