// Lab 02, ported from my OpenCL kernel: local ids, one-dimensional work group, flat local memory.
#include "check.h"

#define WG 16                  // side of the work group
#define BARRIER() __syncthreads()

__global__ void sgemm_local(const float* A, const float* B, float* C, int N) {
  __shared__ float lA[WG * WG];
  __shared__ float lB[WG * WG];

  const int lid = threadIdx.x;   // get_local_id(0)
  const int lx = lid % WG;
  const int ly = lid / WG;
  const int gx = blockIdx.x * WG + lx;
  const int gy = blockIdx.y * WG + ly;

  float acc = 0.0f;
  for (int base = 0; base < N; base += WG) {
    lA[lid] = A[gy * N + base + lx];
    lB[lid] = B[(base + ly) * N + gx];
    BARRIER();

    const float* pa = lA + ly * WG;
    const float* pb = lB + lx;
    #pragma unroll
    for (int q = 0; q < WG; q++) {
      acc += pa[q] * pb[q * WG];
    }
    BARRIER();
  }
  C[gy * N + gx] = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int groups = width / WG;
  dim3 global(groups, groups, 1);
  dim3 local(WG * WG, 1, 1);
  void* args[] = {(void*)&M, (void*)&N, (void*)&P, (void*)&width};
  cudaError_t err = cudaLaunchKernel((const void*)sgemm_local, global, local, args, 0, 0);
  CHECK(err);
}
