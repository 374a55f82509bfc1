// Lab 02 / Oyelaran. Tile size is a template parameter, tiles are in dynamic shared memory.
#include <cuda_runtime.h>

#include "check.h"

template <int T>
__global__ void gemm(const float* __restrict__ lhs, const float* __restrict__ rhs,
                     float* __restrict__ dst, int n) {
  extern __shared__ float scratch[];
  float* tileL = scratch;
  float* tileR = scratch + T * T;

  const int lx = threadIdx.x;
  const int ly = threadIdx.y;
  const int here = ly * T + lx;  // of this thread in a tile

  const float* srcL = lhs + (blockIdx.y * T + ly) * n + lx;
  const float* srcR = rhs + ly * n + blockIdx.x * T + lx;

  float acc = 0.0f;
  for (int left = n / T; left > 0; left--) {
    tileL[here] = *srcL;
    tileR[here] = *srcR;
    srcL += T;
    srcR += T * n;
    __syncthreads();

    const float* l = &tileL[ly * T];
    const float* r = &tileR[lx];
#pragma unroll
    for (int q = 0; q < T; q++, l++, r += T) {
      acc += *l * *r;
    }
    __syncthreads();
  }

  dst[(blockIdx.y * T + ly) * n + blockIdx.x * T + lx] = acc;
}

template <int T>
void launch(const float* a, const float* b, float* c, int n) {
  dim3 threads(T, T);
  dim3 blocks(n / T, n / T);
  size_t shared = 2 * T * T * sizeof(float);
  void* args[] = {&a, &b, &c, &n};
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(&gemm<T>), blocks, threads, args, shared, 0));
}

void solve(const float* M, const float* N, float* P, int width) {
  launch<32>(M, N, P, width);
}
