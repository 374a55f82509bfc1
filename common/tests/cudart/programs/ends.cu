// What a program does or leaves undone on the host, and how it ends: ends MODE.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

__global__ void fill(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;
}

__global__ void past(int* p, int n) {
  p[n + threadIdx.x] = 1;
}

__global__ void reduce(unsigned* p, int which) {
  if (which == 1)
    asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(p), "r"(1));
  p[0] = 1;
}

__global__ void in_shared(float* p) {
  __shared__ float s[128];
  s[threadIdx.x + 1] = 1.0f;  // of the last thread: s[128]
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x];
}

struct Padded {
  double x;
  int n;
};

__global__ void fill_padded(Padded* p) {
  p[threadIdx.x].x = 1.0;
  p[threadIdx.x].n = 2;
}

// Freed by a destructor, after main has returned.
struct Global {
  int* memory = nullptr;
  ~Global() { cudaFree(memory); }
} g_late;

int* allocated(size_t n) {
  int* p = nullptr;
  cudaMalloc(&p, n * sizeof(int));
  return p;
}

int main(int, char** arguments) {
  const char* mode = arguments[1];
  auto is = [&](const char* name) { return std::strcmp(mode, name) == 0; };
  int host[200] = {};
  if (is("all-refused")) {
    fill<<<1, 2048>>>(nullptr, 0);
    return cudaGetLastError() == cudaSuccess;
  }
  int* d = allocated(100);
  int* two = allocated(100);
  fill<<<4, 32>>>(d, 100);
  cudaDeviceSynchronize();
  if (is("unsupported")) reduce<<<1, 1>>>((unsigned*)d, 1);
  if (is("refused")) {
    fill<<<1, 2048>>>(d, 100);
    fill<<<0, 32>>>(d, 100);
    cudaGetLastError();
  }
  if (is("unasked")) fill<<<1, 2048>>>(d, 100);
  if (is("asked")) {
    fill<<<1, 2048>>>(d, 100);
    cudaGetLastError();
  }
  if (is("unseen")) past<<<1, 32>>>(d, 100);
  if (is("far")) {  // the index that is meant lies in the buffer beside
    past<<<1, 32>>>(d, 5000);
    cudaDeviceSynchronize();
  }
  if (is("shared")) {
    in_shared<<<1, 128>>>((float*)d);
    cudaDeviceSynchronize();
  }
  if (is("unwritten")) cudaMemcpy(host, two, 400, cudaMemcpyDeviceToHost);
  if (is("half")) {
    fill<<<1, 64>>>(two, 50);
    cudaMemcpy(host, two, 400, cudaMemcpyDeviceToHost);
  }
  if (is("whole")) cudaMemcpy(host, d, 400, cudaMemcpyDeviceToHost);
  if (is("padded")) {
    fill_padded<<<1, 20>>>((Padded*)two);
    cudaMemcpy(host, two, 20 * sizeof(Padded), cudaMemcpyDeviceToHost);
  }
  if (is("leak")) allocated(30);
  if (is("late")) g_late.memory = allocated(30);
  if (is("host")) std::printf("%d\n", d[3]);
  if (is("abort") || is("exit") || is("throw") || is("kill") || is("segv") || is("quick"))
    past<<<1, 32>>>(d, 100);
  if (is("abort")) std::abort();
  if (is("exit")) _exit(5);
  if (is("throw")) throw std::runtime_error("thrown");
  if (is("kill")) raise(SIGKILL);
  if (is("segv")) *(volatile int*)8 = 1;
  if (is("quick")) std::quick_exit(0);
  cudaFree(d);
  cudaFree(two);
  return 0;
}
