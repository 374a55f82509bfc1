#include "check.h"
#include "copy_async.h"

// Two buffers, exchanged after every step by their pointers. 32 x 32 of P, 2 x 2 a thread.
#define D 32

__device__ void bring(float* to, const float* from, int rows, int cols, int r0, int c0) {
  for (int i = threadIdx.x; i < D * D; i += blockDim.x) {
    int r = r0 + i / D, c = c0 + i % D;
    bool there = r < rows && c < cols;
    copy_async<4>(to + i, there ? from + r * cols + c : from, there);
  }
}

__global__ void exchange(const float* A, const float* B, float* C, int m, int k, int n) {
  __shared__ float buffer[4][D * D];
  float *a_now = buffer[0], *b_now = buffer[1];
  float *a_next = buffer[2], *b_next = buffer[3];
  int x = threadIdx.x % 16, y = threadIdx.x / 16;
  int row = blockIdx.y * D, col = blockIdx.x * D;
  float s00 = 0, s01 = 0, s10 = 0, s11 = 0;

  bring(a_now, A, m, k, row, 0);
  bring(b_now, B, k, n, 0, col);
  __pipeline_commit();
  for (int at = 0; at < k; at += D) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (at + D < k) {
      bring(a_next, A, m, k, row, at + D);
      bring(b_next, B, k, n, at + D, col);
      __pipeline_commit();
    }
    for (int i = 0; i < D; ++i) {
      float a0 = a_now[y * D + i], a1 = a_now[(y + 16) * D + i];
      float b0 = b_now[i * D + x], b1 = b_now[i * D + x + 16];
      s00 += a0 * b0;
      s01 += a0 * b1;
      s10 += a1 * b0;
      s11 += a1 * b1;
    }
    float* t = a_now;
    a_now = a_next;
    a_next = t;
    t = b_now;
    b_now = b_next;
    b_next = t;
  }
  row += y;
  col += x;
  if (row < m && col < n) C[row * n + col] = s00;
  if (row < m && col + 16 < n) C[row * n + col + 16] = s01;
  if (row + 16 < m && col < n) C[(row + 16) * n + col] = s10;
  if (row + 16 < m && col + 16 < n) C[(row + 16) * n + col + 16] = s11;
}

void solve(const float* A, const float* B, float* C, int m, int k, int n) {
  dim3 grid((n + D - 1) / D, (m + D - 1) / D);
  exchange<<<grid, 256>>>(A, B, C, m, k, n);
  CHECK(cudaGetLastError());
}
