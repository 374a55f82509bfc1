#include "check.h"

enum { SIDE = 16 };

// x of the grid goes down, y goes to the right.
__global__ void turned(const float* A, const float* B, float* C, int rows, int mid, int cols) {
  __shared__ float a[SIDE][SIDE];
  __shared__ float b[SIDE][SIDE];
  const int r = blockIdx.x * SIDE + threadIdx.y;
  const int c = blockIdx.y * SIDE + threadIdx.x;
  const bool rowOk = r < rows;
  const bool colOk = c < cols;
  float s = 0.0f;
  int at = 0;
  while (at < mid) {
    const int ka = at + threadIdx.x;
    const int kb = at + threadIdx.y;
    float va = 0.0f;
    float vb = 0.0f;
    if (rowOk && ka < mid) va = A[r * mid + ka];
    if (colOk && kb < mid) vb = B[kb * cols + c];
    a[threadIdx.y][threadIdx.x] = va;
    b[threadIdx.y][threadIdx.x] = vb;
    __syncthreads();
    for (int i = 0; i < SIDE; i++) s = fmaf(a[threadIdx.y][i], b[i][threadIdx.x], s);
    __syncthreads();
    at += SIDE;
  }
  if (rowOk && colOk) C[r * cols + c] = s;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  int down = (j - 1) / SIDE + 1;
  int across = (l - 1) / SIDE + 1;
  turned<<<dim3(down, across), dim3(SIDE, SIDE)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
