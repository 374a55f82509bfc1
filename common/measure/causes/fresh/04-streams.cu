// the rows of P in two halves, each half in a stream of its own
#include "check.h"

template <int B>
struct Launcher {
  cudaStream_t stream;
  Launcher() { CHECK(cudaStreamCreate(&stream)); }
  ~Launcher() {
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
  }
  template <typename K, typename... A>
  void operator()(K kernel, int rows, int columns, A... given) const {
    if (rows == 0 || columns == 0) return;
    const dim3 grid((columns + B - 1) / B, (rows + B - 1) / B);
    kernel<<<grid, dim3(B, B), 0, stream>>>(given...);
    CHECK(cudaGetLastError());
  }
};

__global__ void tiles16(const float* m, const float* n, float* p, int rows, int inner, int columns) {
  __shared__ float a[16][16], b[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int t = 0; t < inner; t += 16) {
    a[threadIdx.y][threadIdx.x] = y < rows && t + threadIdx.x < inner ? m[y * inner + t + threadIdx.x] : 0.0f;
    b[threadIdx.y][threadIdx.x] = t + threadIdx.y < inner && x < columns ? n[(t + threadIdx.y) * columns + x] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  if (y < rows && x < columns) p[y * columns + x] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int upper = (j + 1) / 2;
  const int lower = j - upper;
  Launcher<16> first, second;
  first(tiles16, upper, l, M, N, P, upper, k, l);
  second(tiles16, lower, l, M + upper * k, N, P + upper * l, lower, k, l);
}
