// bands of rows, two streams in turn; each band has its copies and its kernel
#include <algorithm>

#include "check.h"

static const int kBand = 48;
static const int kStreams = 2;

__global__ void bandKernel(const float* m, const float* n, float* p, int rows, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < rows && x < width) {
    float s = 0.0f;
    for (int i = 0; i < width; ++i) s += m[y * width + i] * n[i * width + x];
    p[y * width + x] = s;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t row = width * sizeof(float);
  float *dN, *dM[kStreams], *dP[kStreams];
  cudaStream_t streams[kStreams];
  CHECK(cudaMalloc(&dN, row * width));
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreate(&streams[s]));
    CHECK(cudaMalloc(&dM[s], row * kBand));
    CHECK(cudaMalloc(&dP[s], row * kBand));
  }
  CHECK(cudaMemcpy(dN, N, row * width, cudaMemcpyHostToDevice));
  int turn = 0;
  for (int first = 0; first < width; first += kBand) {
    const int rows = std::min(kBand, width - first);
    const size_t offset = (size_t)first * width;
    cudaStream_t s = streams[turn];
    CHECK(cudaMemcpyAsync(dM[turn], M + offset, rows * row, cudaMemcpyHostToDevice, s));
    dim3 block(16, 16);
    dim3 grid((width + 15) / 16, (rows + 15) / 16);
    bandKernel<<<grid, block, 0, s>>>(dM[turn], dN, dP[turn], rows, width);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(P + offset, dP[turn], rows * row, cudaMemcpyDeviceToHost, s));
    turn = (turn + 1) % kStreams;
  }
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamSynchronize(streams[s]));
    CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaFree(dM[s]));
    CHECK(cudaFree(dP[s]));
  }
  CHECK(cudaFree(dN));
}
