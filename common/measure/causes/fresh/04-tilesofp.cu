// the host goes through P in large tiles, one launch for each
#include <algorithm>

#include "check.h"

struct View {
  const float* at;
  int pitch;
};

__global__ void tileProduct(View m, View n, float* p, int pitch, int rows, int inner, int columns) {
  __shared__ float ms[16][16];
  __shared__ float ns[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int r = blockIdx.y * 16 + ty, c = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int f = 0; f < inner; f += 16) {
    ms[ty][tx] = r < rows && f + tx < inner ? m.at[(size_t)r * m.pitch + f + tx] : 0.0f;
    ns[ty][tx] = f + ty < inner && c < columns ? n.at[(size_t)(f + ty) * n.pitch + c] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += ms[ty][i] * ns[i][tx];
    __syncthreads();
  }
  if (r < rows && c < columns) p[(size_t)r * pitch + c] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const int BIG = std::max(64, (std::max(j, l) + 63) / 64);
  const dim3 block(16, 16);
  for (int top = 0; top < j; top += BIG) {
    for (int left = 0; left < l; left += BIG) {
      const int rows = std::min(BIG, j - top);
      const int columns = std::min(BIG, l - left);
      const View m{M + (size_t)top * k, k};
      const View n{N + left, l};
      const dim3 grid((columns + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
      tileProduct<<<grid, block>>>(m, n, P + (size_t)top * l + left, l, rows, k, columns);
      CHECK(cudaGetLastError());
    }
  }
}
