#include <cuda_runtime.h>

template <typename T>
struct Span2 {
  T* data;
  size_t pitch;
  __device__ T* operator[](size_t row) const { return data + row * pitch; }
};

template <typename A>
__host__ __device__ constexpr A smaller(A a, A b) {
  return b < a ? b : a;
}

constexpr size_t SIDE = 16;

// The tiles are filled only as far as they reach, and used only as far: no zeros.
__global__ void as_far(Span2<const float> m, Span2<const float> n, Span2<float> p, size_t w) {
  __shared__ float left[SIDE][SIDE], right[SIDE][SIDE];
  const size_t ly = threadIdx.y, lx = threadIdx.x;
  const size_t y = blockIdx.y * SIDE + ly, x = blockIdx.x * SIDE + lx;
  const bool y_in = y < w, x_in = x < w;
  float total = 0.0f;
  for (size_t done = 0; done < w; done += SIDE) {
    const size_t here = smaller(SIDE, w - done);
    if (y_in && lx < here) left[ly][lx] = m[y][done + lx];
    if (x_in && ly < here) right[ly][lx] = n[done + ly][x];
    __syncthreads();
    if (y_in && x_in)
      for (size_t i = 0; i < here; ++i) total += left[ly][i] * right[i][lx];
    __syncthreads();
  }
  if (y_in && x_in) p[y][x] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t w = width;
  const unsigned blocks = (w + SIDE - 1) / SIDE;
  as_far<<<{blocks, blocks}, {SIDE, SIDE}>>>({M, w}, {N, w}, {P, w}, w);
}
