// two streams with an event: one brings M, the other N; the kernel waits for both
#include "check.h"

struct Lane {
  cudaStream_t stream;
  cudaEvent_t done;
  void open() {
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  }
  void close() {
    CHECK(cudaEventDestroy(done));
    CHECK(cudaStreamDestroy(stream));
  }
  float* bring(const float* host, size_t bytes) {
    float* made;
    CHECK(cudaMalloc(&made, bytes));
    CHECK(cudaMemcpyAsync(made, host, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(done, stream));
    return made;
  }
};

__global__ void tile(const float* M, const float* N, float* P, int width) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  if (x < width && y < width) {
    for (int k = 0; k < width; k++) sum += M[y * width + k] * N[k * width + x];
    P[y * width + x] = sum;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t bytes = size_t(width) * width * sizeof(float);
  Lane first, second;
  first.open();
  second.open();
  float* m = first.bring(M, bytes);
  float* n = second.bring(N, bytes);
  float* p;
  CHECK(cudaMalloc(&p, bytes));
  CHECK(cudaStreamWaitEvent(first.stream, second.done, 0));
  const unsigned side = (width + 15) / 16;
  tile<<<dim3(side, side), dim3(16, 16), 0, first.stream>>>(m, n, p, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(P, p, bytes, cudaMemcpyDeviceToHost, first.stream));
  CHECK(cudaStreamSynchronize(first.stream));
  first.close();
  second.close();
  for (float* one : {m, n, p}) CHECK(cudaFree(one));
}
