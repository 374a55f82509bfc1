// rows of M in batches: only one batch of M and P is on the device at a time
#include <algorithm>

#include "check.h"

namespace {

constexpr int kRowsPerBatch = 24;
constexpr dim3 kThreads{32, 8, 1};

__global__ void batchKernel(const float* rows, const float* all, float* out, int count, int width) {
  const int x = blockIdx.x * kThreads.x + threadIdx.x;
  const int y = blockIdx.y * kThreads.y + threadIdx.y;
  if (y < count && x < width) {
    float r = 0;
    for (int i = 0; i < width; ++i) r += rows[y * width + i] * all[i * width + x];
    out[y * width + x] = r;
  }
}

int ceilDiv(int a, int b) { return (a + b - 1) / b; }

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const size_t rowBytes = width * sizeof(float);
  float *rows, *all, *out;
  CHECK(cudaMalloc(&rows, kRowsPerBatch * rowBytes));
  CHECK(cudaMalloc(&out, kRowsPerBatch * rowBytes));
  CHECK(cudaMalloc(&all, width * rowBytes));
  CHECK(cudaMemcpy(all, N, width * rowBytes, cudaMemcpyHostToDevice));
  for (int first = 0; first < width; first += kRowsPerBatch) {
    int count = std::min(kRowsPerBatch, width - first);
    CHECK(cudaMemcpy(rows, M + first * width, count * rowBytes, cudaMemcpyHostToDevice));
    void* args[] = {&rows, &all, &out, &count, &width};
    CHECK(cudaLaunchKernel(batchKernel, dim3(ceilDiv(width, kThreads.x), ceilDiv(count, kThreads.y)), kThreads, args, 0,
                           cudaStreamDefault));
    CHECK(cudaMemcpy(P + first * width, out, count * rowBytes, cudaMemcpyDeviceToHost));
  }
  CHECK(cudaFree(rows));
  CHECK(cudaFree(all));
  CHECK(cudaFree(out));
}
