#include "check.h"

// A matrix with its shape, like in numpy: v.shape[0], v.shape[1], v.strides
template <class T>
struct ndarray {
  T* data;
  int shape[2];
  size_t stride;

  ndarray(T* data, int n0, int n1) : data(data), shape{n0, n1}, stride(n1) {}

  __device__ T& operator()(int a, int b) const { return data[a * stride + b]; }
  __device__ bool has(int a, int b) const { return a < shape[0] && b < shape[1]; }
};

template <int B>
__global__ void dot(ndarray<const float> x, ndarray<const float> y, ndarray<float> out) {
  __shared__ float bx[B][B];
  __shared__ float by[B][B];
  const int a = blockIdx.y * B + threadIdx.y;
  const int b = blockIdx.x * B + threadIdx.x;
  const int inner = x.shape[1];

  float acc = 0;
  for (int start = 0; start < inner; start += B) {
    float vx = 0, vy = 0;
    if (x.has(a, start + threadIdx.x)) vx = x(a, start + threadIdx.x);
    if (y.has(start + threadIdx.y, b)) vy = y(start + threadIdx.y, b);
    __syncthreads();
    bx[threadIdx.y][threadIdx.x] = vx;
    by[threadIdx.y][threadIdx.x] = vy;
    __syncthreads();
#pragma unroll
    for (int c = 0; c < B; ++c) acc += bx[threadIdx.y][c] * by[c][threadIdx.x];
  }
  if (out.has(a, b)) out(a, b) = acc;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  constexpr int B = 16;
  ndarray<const float> x(M, j, k), y(N, k, l);
  ndarray<float> out(P, j, l);
  auto cover = [](int n) { return unsigned((n + B - 1) / B); };
  dot<B><<<dim3(cover(out.shape[1]), cover(out.shape[0])), dim3(B, B)>>>(x, y, out);
  CHECK(cudaGetLastError());
}
