// the whole assignment as one graph: captured from a stream, then launched once
#include <vector>

#include "check.h"

class Captured {
 public:
  Captured() { CHECK(cudaStreamCreate(&stream_)); }
  ~Captured() {
    if (ready_) CHECK(cudaGraphExecDestroy(ready_));
    if (graph_) CHECK(cudaGraphDestroy(graph_));
    CHECK(cudaStreamDestroy(stream_));
  }
  template <class Work>
  void record(Work work) {
    CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    work(stream_);
    CHECK(cudaStreamEndCapture(stream_, &graph_));
    CHECK(cudaGraphInstantiate(&ready_, graph_, 0));
  }
  void replay() {
    CHECK(cudaGraphLaunch(ready_, stream_));
    CHECK(cudaStreamSynchronize(stream_));
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

__global__ void cell(const float* m, const float* n, float* p, int w) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= w) return;
  float s = 0.f;
  for (int i = 0; i != w; ++i) s += m[y * w + i] * n[i * w + x];
  p[y * w + x] = s;
}

void solve(const float* M, const float* N, float* P, int width) {
  const size_t bytes = sizeof(float) * width * width;
  std::vector<float*> on(3);
  for (float*& one : on) CHECK(cudaMalloc(&one, bytes));
  Captured captured;
  captured.record([&](cudaStream_t stream) {
    CHECK(cudaMemcpyAsync(on[0], M, bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(on[1], N, bytes, cudaMemcpyHostToDevice, stream));
    const dim3 threads(16, 16);
    const dim3 blocks((width + threads.x - 1) / threads.x, (width + threads.y - 1) / threads.y);
    cell<<<blocks, threads, 0, stream>>>(on[0], on[1], on[2], width);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(P, on[2], bytes, cudaMemcpyDeviceToHost, stream));
  });
  captured.replay();
  for (float* one : on) CHECK(cudaFree(one));
}
