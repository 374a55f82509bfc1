// rows aligned by the runtime: cudaMallocPitch and cudaMemcpy2D
#include <stdio.h>

#include "check.h"

struct Pitched {
  float* data;
  size_t pitch;  // bytes
};

__device__ const float* rowOf(const Pitched& a, int row) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(a.data) + row * a.pitch);
}

__global__ void multiplyPitched(Pitched a, Pitched b, Pitched c, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float* line = rowOf(a, y);
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += line[i] * rowOf(b, i)[x];
  const_cast<float*>(rowOf(c, y))[x] = sum;
}

static Pitched makeRoom(int rows, int columns) {
  Pitched made;
  CHECK(cudaMallocPitch((void**)&made.data, &made.pitch, columns * sizeof(float), rows));
  return made;
}

static void put(const Pitched& to, const float* from, int rows, int columns) {
  size_t line = columns * sizeof(float);
  CHECK(cudaMemcpy2D(to.data, to.pitch, from, line, line, rows, cudaMemcpyHostToDevice));
}

static void get(float* to, const Pitched& from, int rows, int columns) {
  size_t line = columns * sizeof(float);
  CHECK(cudaMemcpy2D(to, line, from.data, from.pitch, line, rows, cudaMemcpyDeviceToHost));
}

void solve(const float* M, const float* N, float* P, int width) {
  Pitched a = makeRoom(width, width);
  Pitched b = makeRoom(width, width);
  Pitched c = makeRoom(width, width);
  put(a, M, width, width);
  put(b, N, width, width);
  dim3 threads(16, 16);
  dim3 blocks((width + threads.x - 1) / threads.x, (width + threads.y - 1) / threads.y);
  multiplyPitched<<<blocks, threads>>>(a, b, c, width);
  CHECK(cudaGetLastError());
  get(P, c, width, width);
  CHECK(cudaFree(a.data));
  CHECK(cudaFree(b.data));
  CHECK(cudaFree(c.data));
}
