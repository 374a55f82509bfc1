// columns of N in stripes, copied with cudaMemcpy2D; each stripe gives a stripe of P
#include <vector>

#include "check.h"

constexpr int STRIPE = 40;

__global__ void stripe(const float* m, const float* n, float* p, int width, int columns) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = at / columns, x = at % columns;
  if (y >= width) return;
  float sum = 0.0f;
  for (int i = 0; i < width; i++) sum += m[y * width + i] * n[i * columns + x];
  p[y * columns + x] = sum;
}

struct Piece {
  int begin, columns;
};

static std::vector<Piece> pieces(int width) {
  std::vector<Piece> found;
  for (int begin = 0; begin < width; begin += STRIPE) {
    const int left = width - begin;
    found.push_back({begin, left < STRIPE ? left : STRIPE});
  }
  return found;
}

void solve(const float* M, const float* N, float* P, int width) {
  float *m, *n, *p;
  const size_t line = sizeof(float) * width;
  CHECK(cudaMalloc(&m, line * width));
  CHECK(cudaMalloc(&n, sizeof(float) * STRIPE * width));
  CHECK(cudaMalloc(&p, sizeof(float) * STRIPE * width));
  CHECK(cudaMemcpy(m, M, line * width, cudaMemcpyHostToDevice));
  for (const auto& [begin, columns] : pieces(width)) {
    const size_t part = sizeof(float) * columns;
    CHECK(cudaMemcpy2D(n, part, N + begin, line, part, width, cudaMemcpyHostToDevice));
    const int all = columns * width;
    stripe<<<(all + 191) / 192, 192>>>(m, n, p, width, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(P + begin, line, p, part, part, width, cudaMemcpyDeviceToHost));
  }
  CHECK(cudaFree(m));
  CHECK(cudaFree(n));
  CHECK(cudaFree(p));
}
