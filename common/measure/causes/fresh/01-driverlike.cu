// cudaLaunchKernel, its arguments in a list
#include <initializer_list>
#include <vector>

#include "check.h"

extern "C" __global__ void mul_rows(const float* a, const float* b, float* c, int n, int per_thread) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row0 = blockIdx.y * per_thread;
  if (col >= n) return;
  for (int r = row0; r < row0 + per_thread; r++) {
    if (r >= n) break;
    float t = 0;
    for (int k = 0; k < n; k++) t += a[r * n + k] * b[k * n + col];
    c[r * n + col] = t;
  }
}

struct Config {
  dim3 grid, block;
  size_t shared = 0;
};

static Config configure(int n, int per_thread) {
  Config config;
  config.block = dim3(64);
  config.grid.x = (n + config.block.x - 1) / config.block.x;
  config.grid.y = (n + per_thread - 1) / per_thread;
  return config;
}

static void go(const void* kernel, const Config& config, std::initializer_list<void*> list) {
  std::vector<void*> arguments(list);
  CHECK(cudaLaunchKernel(kernel, config.grid, config.block, arguments.data(), config.shared, 0));
}

void solve(const float* M, const float* N, float* P, int width) {
  void* memory[3];
  size_t bytes = sizeof(float) * width;
  bytes *= width;
  for (void*& one : memory) CHECK(cudaMalloc(&one, bytes));
  const void* from[2] = {M, N};
  for (int i = 0; i < 2; i++) CHECK(cudaMemcpy(memory[i], from[i], bytes, cudaMemcpyHostToDevice));
  int per_thread = 4;
  go((const void*)mul_rows, configure(width, per_thread), {&memory[0], &memory[1], &memory[2], &width, &per_thread});
  CHECK(cudaMemcpy(P, memory[2], bytes, cudaMemcpyDeviceToHost));
  for (void* one : memory) CHECK(cudaFree(one));
}
