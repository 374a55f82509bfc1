#include "check.h"

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

template <const uint BLOCKSIZE>
__global__ void sgemm_coalesced(int N, const float* A, const float* B, float* C) {
  const uint x = blockIdx.x * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
  const uint y = blockIdx.y * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);

  if (x < N && y < N) {
    float acc = 0.0;
    for (int i = 0; i < N; ++i) {
      acc += A[x * N + i] * B[i * N + y];
    }
    C[x * N + y] = acc;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t bytes = sizeof(float) * width * width;
  float *dA = nullptr, *dB = nullptr, *dC = nullptr;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc((void**)&dA, bytes));
  CHECK(cudaMalloc((void**)&dB, bytes));
  CHECK(cudaMalloc((void**)&dC, bytes));
  CHECK(cudaMemcpyAsync(dA, M, bytes, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(dB, N, bytes, cudaMemcpyHostToDevice, stream));

  dim3 gridDim(CEIL_DIV(width, 32), CEIL_DIV(width, 32));
  dim3 blockDim(32 * 32);
  sgemm_coalesced<32><<<gridDim, blockDim, 0, stream>>>(width, dA, dB, dC);
  CHECK(cudaGetLastError());

  CHECK(cudaMemcpyAsync(P, dC, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
  cudaStreamDestroy(stream);
}
