#include "check.h"
#include "copy_async.h"

constexpr int B = 16;

__global__ void flip(const float* X, const float* Y, float* Z, int rows, int inner, int cols) {
  __shared__ float xs[2][B][B], ys[2][B][B];
  int tx = threadIdx.x, ty = threadIdx.y;
  int r = blockIdx.y * B + ty, c = blockIdx.x * B + tx;
  float sum = 0;
  int read = 0;

  bool in = r < rows && tx < inner;
  copy_async<4>(&xs[0][ty][tx], in ? X + r * inner + tx : X, in);
  in = ty < inner && c < cols;
  copy_async<4>(&ys[0][ty][tx], in ? Y + ty * cols + c : Y, in);
  __pipeline_commit();

  for (int base = 0; base < inner; base += B) {
    int write = read ^ 1;
    int xc = base + B + tx, yr = base + B + ty;
    in = r < rows && xc < inner;
    copy_async<4>(&xs[write][ty][tx], in ? X + r * inner + xc : X, in);
    in = yr < inner && c < cols;
    copy_async<4>(&ys[write][ty][tx], in ? Y + yr * cols + c : Y, in);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = 0; i < B; i++) sum += xs[read][ty][i] * ys[read][i][tx];
    __syncthreads();
    read = write;
  }
  __pipeline_wait_prior(0);
  if (r < rows && c < cols) Z[r * cols + c] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 block(B, B);
  dim3 grid((l + B - 1) / B, (j + B - 1) / B);
  flip<<<grid, block>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
