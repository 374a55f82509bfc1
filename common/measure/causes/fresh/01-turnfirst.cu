// M is turned first, so that both factors are read along a column
#include "check.h"

#define ERR(expr)                                                                  \
  if (cudaError_t err = (expr); err != cudaSuccess) {                              \
    fprintf(stderr, "[%s:%d] %s\n", __FILE__, __LINE__, cudaGetErrorString(err));  \
  }

__global__ void turn(float* out, const float* in, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

__global__ void columnsByColumns(float* out, const float* turned, const float* right, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0.f;
  for (int i = 0; i < n; ++i) sum += turned[i * n + y] * right[i * n + x];
  out[y * n + x] = sum;
}

static inline int up(int a, int b) { return (a + b - 1) / b; }

void solve(const float* M, const float* N, float* P, int width) {
  float *left, *right, *turned, *result;
  const auto bytes = sizeof(*left) * width * width;
  for (float** p : {&left, &right, &turned, &result}) ERR(cudaMalloc((void**)p, bytes));
  ERR(cudaMemcpy(left, M, bytes, cudaMemcpyHostToDevice));
  ERR(cudaMemcpy(right, N, bytes, cudaMemcpyHostToDevice));
  const dim3 block(16, 16), grid(up(width, 16), up(width, 16));
  turn<<<grid, block>>>(turned, left, width);
  ERR(cudaGetLastError());
  columnsByColumns<<<grid, block>>>(result, turned, right, width);
  ERR(cudaGetLastError());
  ERR(cudaMemcpy(P, result, bytes, cudaMemcpyDeviceToHost));
  for (float* p : {left, right, turned, result}) ERR(cudaFree(p));
}
