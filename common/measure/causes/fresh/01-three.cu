#include "check.h"

enum { LEFT, RIGHT, RESULT, MATRICES };

struct Problem {
  float* dev[MATRICES];
  size_t bytes;
  int n;
};

__global__ void multiply(float* out, const float* left, const float* right, int n) {
  int col = threadIdx.x + blockIdx.x * blockDim.x;
  int row = threadIdx.y + blockIdx.y * blockDim.y;
  if (row < n && col < n) {
    float total = 0.0f;
    for (int i = 0; i < n; ++i) {
      total += left[row * n + i] * right[i * n + col];
    }
    out[row * n + col] = total;
  }
}

void setUp(Problem* p, const float* const* host, int n) {
  p->n = n;
  p->bytes = sizeof(float) * n * n;
  for (int i = 0; i < MATRICES; i++) {
    CHECK(cudaMalloc(&p->dev[i], p->bytes));
  }
  for (int i = 0; i < RESULT; i++) {
    CHECK(cudaMemcpy(p->dev[i], host[i], p->bytes, cudaMemcpyHostToDevice));
  }
}

void launch(const Problem& p) {
  dim3 block(16, 8);
  dim3 grid;
  grid.x = (p.n + 15) / 16;
  grid.y = (p.n + 7) / 8;
  multiply<<<grid, block>>>(p.dev[RESULT], p.dev[LEFT], p.dev[RIGHT], p.n);
  CHECK(cudaGetLastError());
}

void tearDown(Problem* p, float* result) {
  CHECK(cudaMemcpy(result, p->dev[RESULT], p->bytes, cudaMemcpyDeviceToHost));
  for (float* d : p->dev) CHECK(cudaFree(d));
}

void solve(const float* M, const float* N, float* P, int width) {
  const float* host[] = {M, N};
  Problem problem;
  setUp(&problem, host, width);
  launch(problem);
  tearDown(&problem, P);
}
