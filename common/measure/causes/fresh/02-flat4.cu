// lab02, numpy person: think of A[r0:r0+T, k0:k0+T] @ B[k0:k0+T, c0:c0+T]
// everything is flat here, also the block of threads: T*T threads in x
#include "check.h"

#define T 16
#define IX(r, c, ld) ((r) * (ld) + (c))

__global__ void matmul_tiles(const float* A, const float* B, float* C, int n) {
  __shared__ float sh[2 * T * T];
  float* a = sh;          // A[r0:r0+T, k0:k0+T]
  float* b = sh + T * T;  // B[k0:k0+T, c0:c0+T]

  const int q = threadIdx.x;
  const int r = q / T, c = q % T;
  const int per_row = n / T;  // blocks next to each other
  const int r0 = blockIdx.x / per_row * T;
  const int c0 = blockIdx.x % per_row * T;

  const float* srcA = A + IX(r0 + r, c, n);
  const float* srcB = B + IX(r, c0 + c, n);
  float dot = 0;
  for (int left = n / T; left > 0; --left) {
    a[q] = *srcA;
    b[q] = *srcB;
    __syncthreads();
    for (int z = 0; z < T; ++z) dot += a[IX(r, z, T)] * b[IX(z, c, T)];
    srcA += T;
    srcB += T * n;
    __syncthreads();
  }
  C[IX(r0 + r, c0 + c, n)] = dot;
}

void solve(const float* M, const float* N, float* P, int width) {
  const int per_side = width / T;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  matmul_tiles<<<per_side * per_side, T * T, 0, stream>>>(M, N, P, width);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
}
