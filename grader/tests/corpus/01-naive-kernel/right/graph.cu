// Style: a CUDA graph made by hand: two copies, the kernel, the copy back

#include "check.h"  // CHECK(call) reports a CUDA call that fails

// P = M x N. M, N, P: device pointers. Grid: x covers the columns of P, y covers its rows.
__global__ void naive_kernel(const float* M, const float* N, float* P, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;  // row of M and P, 0..width-1 and beyond
  int col = blockIdx.x * blockDim.x + threadIdx.x;  // column of N and P, 0..width-1 and beyond

  if (row >= width || col >= width) return;

  float sum = 0.0f;
  for (int k = 0; k < width; ++k) {  // column of M and row of N, 0..width-1
    sum += M[row * width + k] * N[k * width + col];
  }
  P[row * width + col] = sum;
}

// P = M x N. M, N, P: HOST pointers, width * width floats each.
void solve(const float* M, const float* N, float* P, int width) {
  size_t bytes = sizeof(float) * width * width;  // of one matrix
  float *d_M, *d_N, *d_P;                        // the matrices on the device
  CHECK(cudaMalloc(&d_M, bytes));
  CHECK(cudaMalloc(&d_N, bytes));
  CHECK(cudaMalloc(&d_P, bytes));

  cudaGraph_t graph;
  cudaGraphNode_t copies[2], multiply, copy_back;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddMemcpyNode1D(&copies[0], graph, nullptr, 0, d_M, M, bytes,
                                 cudaMemcpyHostToDevice));
  CHECK(cudaGraphAddMemcpyNode1D(&copies[1], graph, nullptr, 0, d_N, N, bytes,
                                 cudaMemcpyHostToDevice));
  cudaKernelNodeParams launch = {};
  void* arguments[] = {&d_M, &d_N, &d_P, &width};
  int blocks = (width + 15) / 16;
  launch.func = (void*)naive_kernel;
  launch.gridDim = dim3(blocks, blocks);
  launch.blockDim = dim3(16, 16);
  launch.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&multiply, graph, copies, 2, &launch));
  CHECK(cudaGraphAddMemcpyNode1D(&copy_back, graph, &multiply, 1, P, d_P, bytes,
                                 cudaMemcpyDeviceToHost));

  cudaGraphExec_t runnable;
  CHECK(cudaGraphInstantiate(&runnable, graph, 0));
  CHECK(cudaGraphLaunch(runnable, 0));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(runnable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(d_M));
  CHECK(cudaFree(d_N));
  CHECK(cudaFree(d_P));
}
