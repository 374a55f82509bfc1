// everything in order in one stream, its memory too
#include "check.h"

namespace {

__global__ void product(float const* __restrict__ left, float const* __restrict__ right, float* __restrict__ out, unsigned n) {
  unsigned const c = blockDim.x * blockIdx.x + threadIdx.x;
  unsigned const r = blockDim.y * blockIdx.y + threadIdx.y;
  if (c < n && r < n) {
    float s = 0.f;
    for (unsigned i = 0; i < n; ++i) s += left[r * n + i] * right[i * n + c];
    out[r * n + c] = s;
  }
}

unsigned blocks_for(unsigned all, unsigned one) { return all / one + (all % one != 0); }

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  cudaStream_t work;
  CHECK(cudaStreamCreate(&work));
  auto const room = sizeof(float) * width * width;
  float *left = nullptr, *right = nullptr, *out = nullptr;
  CHECK(cudaMallocAsync(&left, room, work));
  CHECK(cudaMallocAsync(&right, room, work));
  CHECK(cudaMallocAsync(&out, room, work));
  CHECK(cudaMemcpyAsync(left, M, room, cudaMemcpyHostToDevice, work));
  CHECK(cudaMemcpyAsync(right, N, room, cudaMemcpyHostToDevice, work));
  dim3 const threads{16, 16, 1};
  dim3 const blocks{blocks_for(width, threads.x), blocks_for(width, threads.y), 1};
  product<<<blocks, threads, 0, work>>>(left, right, out, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(P, out, room, cudaMemcpyDeviceToHost, work));
  CHECK(cudaFreeAsync(left, work));
  CHECK(cudaFreeAsync(right, work));
  CHECK(cudaFreeAsync(out, work));
  CHECK(cudaStreamSynchronize(work));
  CHECK(cudaStreamDestroy(work));
}
