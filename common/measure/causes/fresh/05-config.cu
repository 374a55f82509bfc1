#include <cuda_runtime.h>

struct Config {
  static constexpr int kRows = 64, kCols = 64, kDepth = 16;
  static constexpr int kPerRow = 4, kPerCol = 4;
  static constexpr int kThreadsX = kCols / kPerCol, kThreadsY = kRows / kPerRow;
  static constexpr int kThreads = kThreadsX * kThreadsY;
};

template <class C>
class BlockProduct {
 public:
  __device__ BlockProduct(float* a, float* b) : a_(a), b_(b) {
    for (auto& line : sum_)
      for (auto& one : line) one = 0.0f;
  }

  __device__ void loadA(const float* A, int top, int from, int rows, int cols) {
    const int t = threadIdx.y * C::kThreadsX + threadIdx.x;
    for (int e = t; e < C::kRows * C::kDepth; e += C::kThreads) {
      const int y = top + e / C::kDepth, x = from + e % C::kDepth;
      a_[e] = (y < rows && x < cols) ? A[y * cols + x] : 0.0f;
    }
  }
  __device__ void loadB(const float* B, int from, int left, int rows, int cols) {
    const int t = threadIdx.y * C::kThreadsX + threadIdx.x;
    for (int e = t; e < C::kDepth * C::kCols; e += C::kThreads) {
      const int y = from + e / C::kCols, x = left + e % C::kCols;
      b_[e] = (y < rows && x < cols) ? B[y * cols + x] : 0.0f;
    }
  }
  __device__ void step() {
    for (int d = 0; d < C::kDepth; ++d) {
      float ra[C::kPerRow], rb[C::kPerCol];
      for (int i = 0; i < C::kPerRow; ++i)
        ra[i] = a_[(threadIdx.y + i * C::kThreadsY) * C::kDepth + d];
      for (int i = 0; i < C::kPerCol; ++i) rb[i] = b_[d * C::kCols + threadIdx.x + i * C::kThreadsX];
      for (int i = 0; i < C::kPerRow; ++i)
        for (int j = 0; j < C::kPerCol; ++j) sum_[i][j] += ra[i] * rb[j];
    }
  }
  __device__ void store(float* P, int top, int left, int rows, int cols) const {
    for (int i = 0; i < C::kPerRow; ++i) {
      const int y = top + threadIdx.y + i * C::kThreadsY;
      if (y >= rows) continue;
      for (int j = 0; j < C::kPerCol; ++j) {
        const int x = left + threadIdx.x + j * C::kThreadsX;
        if (x >= cols) continue;
        P[y * cols + x] = sum_[i][j];
      }
    }
  }

 private:
  float *a_, *b_;
  float sum_[C::kPerRow][C::kPerCol];
};

template <class C>
__global__ void product(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float a[C::kRows * C::kDepth], b[C::kDepth * C::kCols];
  const int top = blockIdx.y * C::kRows, left = blockIdx.x * C::kCols;
  BlockProduct<C> block(a, b);
  for (int from = 0; from < k; from += C::kDepth) {
    block.loadA(M, top, from, j, k);
    block.loadB(N, from, left, k, l);
    __syncthreads();
    block.step();
    __syncthreads();
  }
  block.store(P, top, left, j, l);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 threads(Config::kThreadsX, Config::kThreadsY);
  const dim3 blocks((l + Config::kCols - 1) / Config::kCols, (j + Config::kRows - 1) / Config::kRows);
  product<Config><<<blocks, threads>>>(M, N, P, j, k, l);
}
