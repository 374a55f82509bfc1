// the upper half of P in one stream, the lower half in another
#include "check.h"

__global__ void part(const float* M, const float* N, float* P, int rows, int width) {
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows || c >= width) return;
  float sum = 0.0f;
  for (int i = 0; i < width; i++) sum += M[r * width + i] * N[i * width + c];
  P[r * width + c] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t bytes = sizeof(float) * width * width;
  float *dM, *dN, *dP;
  CHECK(cudaMalloc(&dM, bytes));
  CHECK(cudaMalloc(&dN, bytes));
  CHECK(cudaMalloc(&dP, bytes));
  CHECK(cudaMemcpy(dN, N, bytes, cudaMemcpyHostToDevice));

  cudaStream_t streams[2];
  int first = 0;
  for (int h = 0; h < 2; h++) {
    CHECK(cudaStreamCreate(&streams[h]));
    int rows = h == 0 ? width / 2 : width - width / 2;
    size_t off = size_t(first) * width, some = sizeof(float) * rows * width;
    if (rows > 0) {
      CHECK(cudaMemcpyAsync(dM + off, M + off, some, cudaMemcpyHostToDevice, streams[h]));
      dim3 block(32, 4), grid((width + 31) / 32, (rows + 3) / 4);
      part<<<grid, block, 0, streams[h]>>>(dM + off, dN, dP + off, rows, width);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpyAsync(P + off, dP + off, some, cudaMemcpyDeviceToHost, streams[h]));
    }
    first += rows;
  }
  for (int h = 0; h < 2; h++) {
    CHECK(cudaStreamSynchronize(streams[h]));
    CHECK(cudaStreamDestroy(streams[h]));
  }
  CHECK(cudaFree(dM));
  CHECK(cudaFree(dN));
  CHECK(cudaFree(dP));
}
