// Lab 05: strips of 128 x 64, eight rows and four columns per thread. M's tile is not transposed.
#include "check.h"

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

const int H = 128, W = 64, D = 16;  // height, width and depth of a block's work
const int NY = 8, NX = 4;           // results of a thread

struct Pose {
  int row, col;  // upper left corner of the block
  int ty, tx;
  __device__ int my_row(int a) const { return row + ty + a * (H / NY); }
  __device__ int my_col(int b) const { return col + tx + b * (W / NX); }
};

__global__ void plan(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float ms[H][D + 1];
  __shared__ float ns[D][W];
  Pose pose = {(int)blockIdx.y * H, (int)blockIdx.x * W, (int)threadIdx.y, (int)threadIdx.x};
  const int ty = pose.ty, tx = pose.tx;

  float acc[NY][NX];
  for (int a = 0; a < NY; a++)
    for (int b = 0; b < NX; b++) acc[a][b] = 0;

  for (int k0 = 0; k0 < k; k0 += D) {
    // 16 x 16 threads: each row of threads loads whole rows of 16
    for (int a = 0; a < NY; a++) {
      int r = pose.my_row(a), c = k0 + tx;
      float v = 0;
      if (r < j && c < k) v = M[(size_t)r * k + c];
      ms[ty + a * (H / NY)][tx] = v;
    }
    for (int b = 0; b < NX; b++) {
      int r = k0 + ty, c = pose.my_col(b);
      float v = 0;
      if (r < k && c < l) v = N[(size_t)r * l + c];
      ns[ty][tx + b * (W / NX)] = v;
    }
    __syncthreads();

    for (int d = 0; d < D; d++) {
      float right[NX];
      for (int b = 0; b < NX; b++) right[b] = ns[d][tx + b * (W / NX)];
      for (int a = 0; a < NY; a++) {
        float left = ms[ty + a * (H / NY)][d];
        for (int b = 0; b < NX; b++) acc[a][b] += left * right[b];
      }
    }
    __syncthreads();
  }

  for (int a = 0; a < NY; a++)
    for (int b = 0; b < NX; b++)
      if (pose.my_row(a) < j && pose.my_col(b) < l)
        P[(size_t)pose.my_row(a) * l + pose.my_col(b)] = acc[a][b];
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 threads(W / NX, H / NY);
  dim3 blocks(DIV_UP(l, W), DIV_UP(j, H));
  plan<<<blocks, threads>>>(M, N, P, j, k, l);
  cudaError_t err = cudaPeekAtLastError();
  CHECK(err);
}
