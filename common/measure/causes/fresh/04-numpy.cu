// P = M @ N, written the way I would slice it in numpy  (yuki)
#include <cuda_runtime.h>

#include "check.h"

using i64 = long long;

const int T = 16;

// like ndarray: data, shape, strides (in elements)
template <class X>
struct Array2d {
  X* data;
  i64 shape[2];
  i64 strides[2];

  __device__ bool has(i64 r, i64 c) const { return r < shape[0] && c < shape[1]; }
  __device__ X& operator()(i64 r, i64 c) const { return data[r * strides[0] + c * strides[1]]; }
};

template <class X>
Array2d<X> asarray(X* data, int rows, int cols) {
  return {data, {rows, cols}, {cols, 1}};
}

// tile[:, :] = a[r0:r0+T, c0:c0+T], zero padded
__device__ void take(float (&tile)[T][T], const Array2d<const float>& a, i64 r0, i64 c0) {
  i64 r = r0 + threadIdx.y, c = c0 + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = a.has(r, c) ? a(r, c) : 0.0f;
}

__global__ void matmul(Array2d<const float> a, Array2d<const float> b, Array2d<float> out) {
  __shared__ float ta[T][T];
  __shared__ float tb[T][T];
  i64 r0 = i64(blockIdx.y) * T, c0 = i64(blockIdx.x) * T;

  float acc = 0;
  for (i64 k0 = 0; k0 < a.shape[1]; k0 += T) {
    take(ta, a, r0, k0);
    take(tb, b, k0, c0);
    __syncthreads();
    // np.dot(ta[y, :], tb[:, x])
    for (int i = 0; i < T; i++) acc += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }

  i64 r = r0 + threadIdx.y, c = c0 + threadIdx.x;
  if (out.has(r, c)) out(r, c) = acc;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  auto m = asarray(M, j, k);
  auto n = asarray(N, k, l);
  auto p = asarray(P, j, l);
  auto blocks = [](i64 size) { return unsigned((size + T - 1) / T); };
  matmul<<<dim3(blocks(p.shape[1]), blocks(p.shape[0])), dim3(T, T)>>>(m, n, p);
  CHECK(cudaGetLastError());
}
