// y = a x, and the sum of y: a program with a test in it.

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                               \
  do {                                                                            \
    const cudaError_t error = (call);                                             \
    if (error != cudaSuccess) {                                                   \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (0)

constexpr int kBlock = 128;

__global__ void scale(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}

// The sum of each block's elements.
__global__ void sum(const float* y, float* sums, int n) {
  __shared__ float part[kBlock];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? y[i] : 0.0f;
  for (int half = kBlock / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

int main(int, char** arguments) {
  const int n = std::atoi(arguments[1]);
  const int blocks = (n + kBlock - 1) / kBlock;
  std::vector<float> x(n, 1.0f), sums(blocks);
  float *d_x, *d_y, *d_sums;
  CHECK(cudaMalloc(&d_x, n * sizeof(float)));
  CHECK(cudaMalloc(&d_y, n * sizeof(float)));
  CHECK(cudaMalloc(&d_sums, blocks * sizeof(float)));
  CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  scale<<<blocks, kBlock>>>(d_x, d_y, 2.0f, n);
  CHECK(cudaGetLastError());
  sum<<<blocks, kBlock>>>(d_y, d_sums, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sums.data(), d_sums, blocks * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_x));
  CHECK(cudaFree(d_y));
  CHECK(cudaFree(d_sums));
  double total = 0;
  for (const float part : sums) total += part;
  std::printf("sum %g\n", total);
  return total == 2.0 * n ? 0 : 1;
}
