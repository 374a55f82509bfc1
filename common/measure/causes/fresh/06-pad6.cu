// Lab 06. Chosen: six words of padding, (70 * i + r) % 32 = (6 * i + r) % 32 takes 32 values.
#include "check.h"

struct Plan {
  static constexpr int rows = 64, cols = 64, depth = 16;
  static constexpr int tm = 4, tn = 4;
  static constexpr int across = cols / tn;
  static constexpr int threads = across * (rows / tm);
  static constexpr int pitch = rows + 6;
};

struct Mat {
  const float* p;
  int h, w;
  __device__ float operator()(int y, int x) const {
    return (y < h && x < w) ? p[y * size_t(w) + x] : 0.f;
  }
};

template <class F>
__device__ void each(int count, F&& f) {
  for (int e = threadIdx.x; e < count; e += Plan::threads) f(e);
}

__global__ void kernel(Mat a, Mat b, float* out) {
  __shared__ float sa[Plan::depth * Plan::pitch];
  __shared__ float sb[Plan::depth * Plan::cols];
  const int y0 = blockIdx.y * Plan::rows, x0 = blockIdx.x * Plan::cols;
  const int tx = threadIdx.x % Plan::across, ty = threadIdx.x / Plan::across;

  float acc[Plan::tm][Plan::tn] = {};
  for (int z = 0; z < a.w; z += Plan::depth) {
    each(Plan::rows * Plan::depth, [&](int e) {
      const int y = e / Plan::depth, i = e % Plan::depth;
      sa[i * Plan::pitch + y] = a(y0 + y, z + i);
    });
    each(Plan::depth * Plan::cols, [&](int e) {
      const int i = e / Plan::cols, x = e % Plan::cols;
      sb[e] = b(z + i, x0 + x);
    });
    __syncthreads();

    const float* pa = sa + ty * Plan::tm;
    const float* pb = sb + tx;
    for (int i = 0; i < Plan::depth; ++i, pa += Plan::pitch, pb += Plan::cols) {
      float left[Plan::tm], right[Plan::tn];
      for (int r = 0; r < Plan::tm; ++r) left[r] = pa[r];
      for (int c = 0; c < Plan::tn; ++c) right[c] = pb[c * Plan::across];
      for (int r = 0; r < Plan::tm; ++r)
        for (int c = 0; c < Plan::tn; ++c) acc[r][c] += left[r] * right[c];
    }
    __syncthreads();
  }

  for (int n = 0; n < Plan::tm * Plan::tn; ++n) {
    const int y = y0 + ty * Plan::tm + n / Plan::tn;
    const int x = x0 + tx + n % Plan::tn * Plan::across;
    if (y < a.h && x < b.w) out[size_t(y) * b.w + x] = acc[n / Plan::tn][n % Plan::tn];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + Plan::cols - 1) / Plan::cols, (j + Plan::rows - 1) / Plan::rows);
  kernel<<<grid, Plan::threads>>>(Mat{M, j, k}, Mat{N, k, l}, P);
  CHECK(cudaGetLastError());
}
