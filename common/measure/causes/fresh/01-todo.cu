// what is to be done is put in a list first, and done at the end
#include <functional>
#include <vector>

#include "check.h"

__global__ void naive(const float* A, const float* B, float* C, int n) {
  const int row = blockDim.y * blockIdx.y + threadIdx.y;
  const int col = blockDim.x * blockIdx.x + threadIdx.x;
  if (row < n && col < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + col];
    C[row * n + col] = sum;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  std::vector<std::function<void()>> todo;
  float *A = nullptr, *B = nullptr, *C = nullptr;
  const size_t size = size_t(width) * width * sizeof(float);

  for (float** one : {&A, &B, &C}) todo.push_back([=] { CHECK(cudaMalloc(one, size)); });
  todo.push_back([&] { CHECK(cudaMemcpy(A, M, size, cudaMemcpyHostToDevice)); });
  todo.push_back([&] { CHECK(cudaMemcpy(B, N, size, cudaMemcpyHostToDevice)); });
  todo.push_back([&] {
    const dim3 threads(16, 16), blocks((width + 15) / 16, (width + 15) / 16);
    naive<<<blocks, threads>>>(A, B, C, width);
    CHECK(cudaGetLastError());
  });
  todo.push_back([&] { CHECK(cudaMemcpy(P, C, size, cudaMemcpyDeviceToHost)); });
  for (float** one : {&A, &B, &C}) todo.push_back([=] { CHECK(cudaFree(*one)); });

  for (auto& step : todo) step();
}
