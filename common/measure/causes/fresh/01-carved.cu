// one cudaMalloc; the three matrices are parts of it
#include <cstdio>
#include <cstdlib>

#define gpuErr(call) gpuAssert((call), __FILE__, __LINE__)
inline void gpuAssert(cudaError_t code, const char* file, int line) {
  if (code != cudaSuccess) {
    fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
    exit(code);
  }
}

__global__ void matmul(const float* A, const float* B, float* C, int N) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N || col >= N) return;
  float acc = 0;
  for (int e = 0; e < N; ++e) acc += A[row * N + e] * B[e * N + col];
  C[row * N + col] = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t elems = (size_t)width * width;
  const size_t bytes = elems * sizeof(float);
  float* d_all;
  gpuErr(cudaMalloc((void**)&d_all, 3 * bytes));
  float* d_M = d_all;
  float* d_N = d_M + elems;
  float* d_P = d_N + elems;
  gpuErr(cudaMemcpy(d_M, M, bytes, cudaMemcpyHostToDevice));
  gpuErr(cudaMemcpy(d_N, N, bytes, cudaMemcpyHostToDevice));
  dim3 block(32, 8);
  dim3 grid((width + block.x - 1) / block.x, (width + block.y - 1) / block.y);
  matmul<<<grid, block>>>(d_M, d_N, d_P, width);
  gpuErr(cudaPeekAtLastError());
  gpuErr(cudaMemcpy(P, d_P, bytes, cudaMemcpyDeviceToHost));
  gpuErr(cudaFree(d_all));
}
