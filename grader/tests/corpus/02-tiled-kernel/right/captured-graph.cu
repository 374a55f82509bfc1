// Style: two streams captured as a CUDA graph, which is launched

#include "check.h"

constexpr int T = 16;

// Computes the rows from first_row on.
__global__ void tiled_kernel(const float* M, const float* N, float* P, int width, int first_row) {
  __shared__ float Mds[T][T], Nds[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = first_row + blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float sum = 0.0f;
  for (int first = 0; first < width; first += T) {
    Mds[ty][tx] = M[row * width + first + tx];
    Nds[ty][tx] = N[(first + ty) * width + col];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += Mds[ty][k] * Nds[k][tx];
    __syncthreads();
  }
  P[row * width + col] = sum;
}

void solve(const float* M, const float* N, float* P, int width) {
  cudaStream_t upper, lower;
  cudaEvent_t begun, done;
  CHECK(cudaStreamCreate(&upper));
  CHECK(cudaStreamCreate(&lower));
  CHECK(cudaEventCreate(&begun));
  CHECK(cudaEventCreate(&done));
  int rows = width / T / 2 * T;  // of the upper half
  dim3 block(T, T);
  CHECK(cudaStreamBeginCapture(upper, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(begun, upper));
  CHECK(cudaStreamWaitEvent(lower, begun, 0));
  tiled_kernel<<<dim3(width / T, rows / T), block, 0, upper>>>(M, N, P, width, 0);
  tiled_kernel<<<dim3(width / T, (width - rows) / T), block, 0, lower>>>(M, N, P, width, rows);
  CHECK(cudaEventRecord(done, lower));
  CHECK(cudaStreamWaitEvent(upper, done, 0));
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  CHECK(cudaStreamEndCapture(upper, &graph));
  CHECK(cudaGraphInstantiate(&runnable, graph, 0));
  CHECK(cudaGraphLaunch(runnable, upper));
  CHECK(cudaStreamSynchronize(upper));
  CHECK(cudaGraphExecDestroy(runnable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventDestroy(begun));
  CHECK(cudaEventDestroy(done));
  CHECK(cudaStreamDestroy(upper));
  CHECK(cudaStreamDestroy(lower));
}
