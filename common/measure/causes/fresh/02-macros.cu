/* Lab 2. Shared memory tiles, plain C. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define TS 32
#define AT(r, c) ((r) * TS + (c))
#define TRY(x)                                                        \
  do {                                                                \
    cudaError_t e_ = (x);                                             \
    if (e_ != cudaSuccess) {                                          \
      printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorName(e_)); \
      exit(EXIT_FAILURE);                                             \
    }                                                                 \
  } while (0)

__global__ void mm(const float *A, const float *B, float *C, int n)
{
  __shared__ float sa[TS * TS], sb[TS * TS];
  unsigned lx = threadIdx.x, ly = threadIdx.y;

  /* pa walks right along my row of A, pb walks down my column of B */
  const float *pa = A + (blockIdx.y * TS + ly) * n + lx;
  const float *pb = B + ly * n + blockIdx.x * TS + lx;
  const float *end = pa + n;
  float acc = 0;

  while (pa < end) {
    sa[AT(ly, lx)] = *pa;
    sb[AT(ly, lx)] = *pb;
    pa += TS;
    pb += TS * n;
    __syncthreads();

    const float *u = sa + AT(ly, 0);
    const float *v = sb + lx;
    int q;
    for (q = TS; q > 0; q--) {
      acc += *u++ * *v;
      v += TS;
    }
    __syncthreads();
  }
  C[(blockIdx.y * TS + ly) * n + blockIdx.x * TS + lx] = acc;
}

void solve(const float *M, const float *N, float *P, int width)
{
  dim3 threads, blocks;
  threads.x = threads.y = TS;
  blocks.x = blocks.y = width / TS;
  mm<<<blocks, threads>>>(M, N, P, width);
  TRY(cudaGetLastError());
  TRY(cudaDeviceSynchronize());
}
