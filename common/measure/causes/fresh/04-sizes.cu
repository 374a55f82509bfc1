#include "check.h"

struct Sizes {
  int rows, inner, cols;
};

constexpr int B = 16;

// blockIdx.x counts the rows of blocks here, blockIdx.y the columns
__global__ void mul(const float* left, const float* right, float* out, Sizes s) {
  __shared__ float l[B][B], r[B][B];
  int tr = threadIdx.y, tc = threadIdx.x;
  size_t row = blockIdx.x * B + tr;
  size_t col = blockIdx.y * B + tc;
  float sum = 0.0f;
  for (int start = 0; start < s.inner; start += B) {
    float lv = 0.0f, rv = 0.0f;
    if (row < s.rows && start + tc < s.inner) lv = left[row * s.inner + start + tc];
    if (start + tr < s.inner && col < s.cols) rv = right[(size_t)(start + tr) * s.cols + col];
    l[tr][tc] = lv;
    r[tr][tc] = rv;
    __syncthreads();
    for (int i = 0; i < B; ++i) sum += l[tr][i] * r[i][tc];
    __syncthreads();
  }
  if (row < s.rows && col < s.cols) out[row * s.cols + col] = sum;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Sizes s{j, k, l};
  dim3 blocks((s.rows + B - 1) / B, (s.cols + B - 1) / B);
  mul<<<blocks, dim3(B, B)>>>(M, N, P, s);
  CHECK(cudaGetLastError());
}
