// what is to be copied stands in a list of jobs; one function carries them out
#include <array>
#include <cstdlib>
#include <iostream>

#define SAFE(x) safe((x), #x)
static void safe(cudaError_t e, const char* what) {
  if (e != cudaSuccess) {
    std::cerr << what << ": " << cudaGetErrorString(e) << "\n";
    std::exit(1);
  }
}

enum class Way { In, Out };

struct Job {
  void* host;
  void* device;
  std::size_t bytes;
  Way way;
};

static void run(const Job& job) {
  if (job.way == Way::In)
    SAFE(cudaMemcpy(job.device, job.host, job.bytes, cudaMemcpyHostToDevice));
  else
    SAFE(cudaMemcpy(job.host, job.device, job.bytes, cudaMemcpyDeviceToHost));
}

__global__ void mulElement(const float* a, const float* b, float* c, const int w) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column < w) {
    float sum = 0;
    for (int i = 0; i < w; ++i) sum += a[row * w + i] * b[i * w + column];
    c[row * w + column] = sum;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  const std::size_t size = std::size_t(width) * width * sizeof(float);
  std::array<float*, 3> dev{};
  for (auto& d : dev) SAFE(cudaMalloc(&d, size));
  auto& [m, n, p] = dev;
  const Job in[] = {{(void*)M, m, size, Way::In}, {(void*)N, n, size, Way::In}};
  for (const Job& job : in) run(job);
  const unsigned per = 96;
  const dim3 grid((width + per - 1) / per, width);
  mulElement<<<grid, per>>>(m, n, p, width);
  SAFE(cudaGetLastError());
  run({P, p, size, Way::Out});
  for (auto d : dev) SAFE(cudaFree(d));
}
