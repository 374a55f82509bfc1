// Style: one level of Strassen's algorithm: seven products of half the size

#include "check.h"  // CHECK(call) reports a CUDA call that fails

// Element (row, col) of quadrant (i, j) of an X that is padded with zeros to 2 * half.
__device__ float at(const float* X, int width, int half, int i, int j, int row, int col) {
  int r = i * half + row, c = j * half + col;
  return r < width && c < width ? X[r * width + c] : 0.0f;
}

// The sum or difference of two quadrants (i, j) and (k, l); sign 0: the first alone.
struct Pair {
  int i, j, k, l, sign;
};

// S = the pair q of quadrants of X, half * half.
__global__ void add(const float* X, float* S, int width, int half, Pair q) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= half || col >= half) return;
  float sum = at(X, width, half, q.i, q.j, row, col);
  if (q.sign) sum += q.sign * at(X, width, half, q.k, q.l, row, col);
  S[row * half + col] = sum;
}

// Q = S x T, half * half.
__global__ void product(const float* S, const float* T, float* Q, int half) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= half || col >= half) return;
  float sum = 0.0f;
  for (int k = 0; k < half; ++k) sum += S[row * half + k] * T[k * half + col];
  Q[row * half + col] = sum;
}

__global__ void combine(const float* Q, float* P, int width, int half) {
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= half || col >= half) return;
  float q[8];
  for (int i = 1; i < 8; ++i) q[i] = Q[(i - 1) * half * half + row * half + col];
  float p[2][2] = {{q[1] + q[4] - q[5] + q[7], q[3] + q[5]},
                   {q[2] + q[4], q[1] - q[2] + q[3] + q[6]}};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      int r = i * half + row, c = j * half + col;
      if (r < width && c < width) P[r * width + c] = p[i][j];
    }
  }
}

// P = M x N. M, N, P: HOST pointers, width * width floats each.
void solve(const float* M, const float* N, float* P, int width) {
  int half = (width + 1) / 2;
  size_t bytes = sizeof(float) * width * width;
  float *d_M, *d_N, *d_P, *d_Q, *d_S, *d_T;
  CHECK(cudaMalloc(&d_M, bytes));
  CHECK(cudaMalloc(&d_N, bytes));
  CHECK(cudaMalloc(&d_P, bytes));
  CHECK(cudaMalloc(&d_Q, sizeof(float) * 7 * half * half));
  CHECK(cudaMalloc(&d_S, sizeof(float) * half * half));
  CHECK(cudaMalloc(&d_T, sizeof(float) * half * half));
  CHECK(cudaMemcpy(d_M, M, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_N, N, bytes, cudaMemcpyHostToDevice));

  const Pair of_m[] = {{0, 0, 1, 1, 1}, {1, 0, 1, 1, 1},  {0, 0, 0, 0, 0}, {1, 1, 0, 0, 0},
                       {0, 0, 0, 1, 1}, {1, 0, 0, 0, -1}, {0, 1, 1, 1, -1}};
  const Pair of_n[] = {{0, 0, 1, 1, 1}, {0, 0, 0, 0, 0}, {0, 1, 1, 1, -1}, {1, 0, 0, 0, -1},
                       {1, 1, 0, 0, 0}, {0, 0, 0, 1, 1}, {1, 0, 1, 1, 1}};
  dim3 block(16, 16), grid((half + 15) / 16, (half + 15) / 16);
  for (int i = 0; i < 7; ++i) {
    add<<<grid, block>>>(d_M, d_S, width, half, of_m[i]);
    add<<<grid, block>>>(d_N, d_T, width, half, of_n[i]);
    product<<<grid, block>>>(d_S, d_T, d_Q + i * half * half, half);
  }
  combine<<<grid, block>>>(d_Q, d_P, width, half);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpy(P, d_P, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_M));
  CHECK(cudaFree(d_N));
  CHECK(cudaFree(d_P));
  CHECK(cudaFree(d_Q));
  CHECK(cudaFree(d_S));
  CHECK(cudaFree(d_T));
}
