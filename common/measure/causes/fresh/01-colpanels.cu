// N and P go in panels of columns, by copies of two dimensions; two streams take turns
#include <algorithm>
#include <array>

#include "check.h"

constexpr int PANEL = 96;

struct Lane {
  cudaStream_t stream;
  float* n;
  float* p;
};

__global__ void panel_product(const float* m, const float* n, float* p, int width, int columns) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  const int r = blockIdx.y * 8 + threadIdx.y;
  if (r < width && c < columns) {
    float s = 0;
    for (int i = 0; i < width; ++i) s += m[r * width + i] * n[i * columns + c];
    p[r * columns + c] = s;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t pitch = width * sizeof(float);
  float* m;
  CHECK(cudaMalloc(&m, pitch * width));
  CHECK(cudaMemcpy(m, M, pitch * width, cudaMemcpyHostToDevice));

  std::array<Lane, 2> lanes;
  for (auto& lane : lanes) {
    CHECK(cudaStreamCreate(&lane.stream));
    CHECK(cudaMalloc(&lane.n, sizeof(float) * PANEL * width));
    CHECK(cudaMalloc(&lane.p, sizeof(float) * PANEL * width));
  }

  auto one_panel = [&](Lane& lane, int first) {
    const int columns = std::min(PANEL, width - first);
    const size_t part = columns * sizeof(float);
    CHECK(cudaMemcpy2DAsync(lane.n, part, N + first, pitch, part, width, cudaMemcpyHostToDevice, lane.stream));
    const dim3 grid((columns + 31) / 32, (width + 7) / 8);
    panel_product<<<grid, dim3(32, 8), 0, lane.stream>>>(m, lane.n, lane.p, width, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2DAsync(P + first, pitch, lane.p, part, part, width, cudaMemcpyDeviceToHost, lane.stream));
  };
  for (int first = 0, turn = 0; first < width; first += PANEL, ++turn) one_panel(lanes[turn % 2], first);

  for (auto& lane : lanes) {
    CHECK(cudaStreamSynchronize(lane.stream));
    CHECK(cudaStreamDestroy(lane.stream));
    CHECK(cudaFree(lane.n));
    CHECK(cudaFree(lane.p));
  }
  CHECK(cudaFree(m));
}
