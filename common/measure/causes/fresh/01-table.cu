/* everything in tables, everything in loops */
#include "check.h"

#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

__global__ void mul(const float* a, const float* b, float* c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

typedef struct Transfer {
  int slot;
  const float* in;
  float* out;
} Transfer;

void solve(const float* M, const float* N, float* P, int width) {
  float* slots[3] = {0};
  const size_t need = sizeof(float) * (size_t)width * (size_t)width;
  const Transfer before[] = {{0, M, NULL}, {1, N, NULL}};
  const Transfer after[] = {{2, NULL, P}};

  for (size_t i = 0; i < COUNT(slots); i++) CHECK(cudaMalloc((void**)&slots[i], need));
  for (size_t i = 0; i < COUNT(before); i++)
    CHECK(cudaMemcpy(slots[before[i].slot], before[i].in, need, cudaMemcpyHostToDevice));

  dim3 per(32, 4);
  dim3 many((width + 31) / 32, (width + 3) / 4);
  mul<<<many, per>>>(slots[0], slots[1], slots[2], width);
  CHECK(cudaGetLastError());

  for (size_t i = 0; i < COUNT(after); i++)
    CHECK(cudaMemcpy(after[i].out, slots[after[i].slot], need, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < COUNT(slots); i++) CHECK(cudaFree(slots[i]));
}
