/* Lab 05. Learnt from a CUDA book of 2010: float*, __mul24 days, BLOCK_SIZE everywhere. */
#include <stdio.h>
#include <stdlib.h>

#define CUDA_SAFE_CALL(x)                                                        \
  do {                                                                           \
    cudaError_t err_ = (x);                                                      \
    if (err_ != cudaSuccess) {                                                   \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
      exit(EXIT_FAILURE);                                                        \
    }                                                                            \
  } while (0)

#define BLOCK_SIZE 16
#define W 4                        /* each thread: W x W */
#define BIG (BLOCK_SIZE * W)       /* 64 */
#define STEP 8
#define AS(i, j) As[(j) * BIG + (i)]
#define BS(i, j) Bs[(i) * BIG + (j)]

__global__ void matrixMul(float *C, const float *A, const float *B, int hA, int wA, int wB) {
  __shared__ float As[STEP * BIG];
  __shared__ float Bs[STEP * BIG];

  int tx = threadIdx.x, ty = threadIdx.y;
  int tid = ty * BLOCK_SIZE + tx;

  int aRow = blockIdx.y * BIG + tid / STEP; /* rows tid/8 and tid/8 + 32 */
  int aCol = tid % STEP;
  int bRow = tid / BIG;                     /* rows tid/64 and tid/64 + 4 */
  int bCol = blockIdx.x * BIG + tid % BIG;

  float Csub[W * W];
  for (int i = 0; i < W * W; i++) Csub[i] = 0;

  for (int done = 0; done < wA; done += STEP) {
    for (int h = 0; h < 2; h++) {
      int r = aRow + 32 * h;
      float v = 0;
      if (r < hA && aCol < wA) v = A[(size_t)r * wA + aCol];
      AS(tid / STEP + 32 * h, tid % STEP) = v;
    }
    for (int h = 0; h < 2; h++) {
      int r = bRow + 4 * h;
      float v = 0;
      if (r < wA && bCol < wB) v = B[(size_t)r * wB + bCol];
      BS(tid / BIG + 4 * h, tid % BIG) = v;
    }
    aCol += STEP;
    bRow += STEP;
    __syncthreads();

#pragma unroll
    for (int k = 0; k < STEP; k++) {
      float a0 = AS(ty * W + 0, k), a1 = AS(ty * W + 1, k);
      float a2 = AS(ty * W + 2, k), a3 = AS(ty * W + 3, k);
#pragma unroll
      for (int x = 0; x < W; x++) {
        float b = BS(k, tx + x * BLOCK_SIZE);
        Csub[0 * W + x] += a0 * b;
        Csub[1 * W + x] += a1 * b;
        Csub[2 * W + x] += a2 * b;
        Csub[3 * W + x] += a3 * b;
      }
    }
    __syncthreads();
  }

  int cRow = blockIdx.y * BIG + ty * W;
  int cCol = blockIdx.x * BIG + tx;
  float *out = C + (size_t)cRow * wB + cCol;
  for (int y = 0; y < W && cRow + y < hA; y++) {
#pragma unroll
    for (int x = 0; x < W; x++) {
      if (cCol + x * BLOCK_SIZE < wB) out[x * BLOCK_SIZE] = Csub[y * W + x];
    }
    out += wB;
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  dim3 dimBlock(BLOCK_SIZE, BLOCK_SIZE);
  dim3 dimGrid((l + BIG - 1) / BIG, (j + BIG - 1) / BIG);
  matrixMul<<<dimGrid, dimBlock>>>(P, M, N, j, k, l);
  CUDA_SAFE_CALL(cudaGetLastError());
}
