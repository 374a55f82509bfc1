// Lab 05: 128x128 block, 8x8 per thread, 8 deep. After a web tutorial on SGEMM.
#include "check.h"

#define BLOCKSIZE_M 128
#define BLOCKSIZE_N 128
#define DEPTH 8
#define REG 8
#define NTHREADS 256
#define CEIL(a, b) (((a) + (b)-1) / (b))

__global__ void __launch_bounds__(NTHREADS)
sgemm(const float *A, const float *B, float *C, int Mdim, int Kdim, int Ndim) {
  __shared__ float As[DEPTH * BLOCKSIZE_M];
  __shared__ float Bs[DEPTH * BLOCKSIZE_N];

  const int cRow = blockIdx.y * BLOCKSIZE_M;
  const int cCol = blockIdx.x * BLOCKSIZE_N;
  const int threadCol = threadIdx.x % (BLOCKSIZE_N / REG);
  const int threadRow = threadIdx.x / (BLOCKSIZE_N / REG);

  const int innerRowA = threadIdx.x / DEPTH, innerColA = threadIdx.x % DEPTH;
  const int strideA = NTHREADS / DEPTH;
  const int innerRowB = threadIdx.x / BLOCKSIZE_N, innerColB = threadIdx.x % BLOCKSIZE_N;
  const int strideB = NTHREADS / BLOCKSIZE_N;

  float threadResults[REG][REG] = {{0.0f}};
  float regM[REG], regN[REG];

  for (int bk = 0; bk < Kdim; bk += DEPTH) {
    for (int off = 0; off < BLOCKSIZE_M; off += strideA) {
      int gr = cRow + innerRowA + off, gc = bk + innerColA;
      float v = 0.0f;
      if (gr < Mdim && gc < Kdim) v = A[(size_t)gr * Kdim + gc];
      As[innerColA * BLOCKSIZE_M + innerRowA + off] = v;
    }
    for (int off = 0; off < DEPTH; off += strideB) {
      int gr = bk + innerRowB + off, gc = cCol + innerColB;
      float v = 0.0f;
      if (gr < Kdim && gc < Ndim) v = B[(size_t)gr * Ndim + gc];
      Bs[(innerRowB + off) * BLOCKSIZE_N + innerColB] = v;
    }
    __syncthreads();

    for (int dot = 0; dot < DEPTH; ++dot) {
      for (int i = 0; i < REG; ++i) regM[i] = As[dot * BLOCKSIZE_M + threadRow * REG + i];
      for (int i = 0; i < REG; ++i)
        regN[i] = Bs[dot * BLOCKSIZE_N + threadCol + i * (BLOCKSIZE_N / REG)];
      for (int m = 0; m < REG; ++m)
        for (int n = 0; n < REG; ++n) threadResults[m][n] += regM[m] * regN[n];
    }
    __syncthreads();
  }

  for (int m = 0; m < REG; ++m) {
    const int gr = cRow + threadRow * REG + m;
    if (gr >= Mdim) break;
    for (int n = 0; n < REG; ++n) {
      const int gc = cCol + threadCol + n * (BLOCKSIZE_N / REG);
      if (gc < Ndim) C[(size_t)gr * Ndim + gc] = threadResults[m][n];
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  dim3 gridDim(CEIL(l, BLOCKSIZE_N), CEIL(j, BLOCKSIZE_M));
  dim3 blockDim(NTHREADS);
  sgemm<<<gridDim, blockDim>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
