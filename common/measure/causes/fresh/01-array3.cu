// three buffers in a std::array, named by an enum; errors are exceptions
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

enum Which { LEFT, RIGHT, OUT, HOW_MANY };

static void must(cudaError_t got, const char* what) {
  if (got != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(got));
}

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() {
    if (data_) cudaFree(data_);
  }
  void resize(size_t bytes) {
    must(cudaMalloc(&data_, bytes), "cudaMalloc");
    bytes_ = bytes;
  }
  void upload(const void* from) { must(cudaMemcpy(data_, from, bytes_, cudaMemcpyHostToDevice), "upload"); }
  void download(void* to) const { must(cudaMemcpy(to, data_, bytes_, cudaMemcpyDeviceToHost), "download"); }
  float* get() const { return static_cast<float*>(data_); }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

__global__ void gemmNaive(int n, const float* __restrict__ left, const float* __restrict__ right, float* __restrict__ out) {
  const int column = threadIdx.x + blockIdx.x * blockDim.x;
  const int row = threadIdx.y + blockIdx.y * blockDim.y;
  if (column >= n || row >= n) return;
  float total = 0.f;
  for (int inner = 0; inner < n; ++inner) total += left[row * n + inner] * right[inner * n + column];
  out[row * n + column] = total;
}

void solve(const float* M, const float* N, float* P, int width) {
  try {
    std::array<DeviceBuffer, HOW_MANY> buffers;
    const size_t bytes = sizeof(float) * width * width;
    for (DeviceBuffer& one : buffers) one.resize(bytes);
    buffers[LEFT].upload(M);
    buffers[RIGHT].upload(N);
    const dim3 threads(16, 16);
    const unsigned side = (width + threads.x - 1) / threads.x;
    gemmNaive<<<dim3(side, side), threads>>>(width, buffers[LEFT].get(), buffers[RIGHT].get(), buffers[OUT].get());
    must(cudaGetLastError(), "launch");
    must(cudaDeviceSynchronize(), "kernel");
    buffers[OUT].download(P);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}
