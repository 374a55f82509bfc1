// Lab 01. I come from C#, so I wrapped device memory in something IDisposable-like.
#include <cstddef>
#include <utility>

#include "check.h"

namespace {

// Owns a buffer on the GPU; "Dispose" is the destructor.
class GpuArray {
 public:
  explicit GpuArray(size_t count) : count_(count) {
    CHECK(cudaMalloc(reinterpret_cast<void**>(&ptr_), count * sizeof(float)));
  }
  ~GpuArray() { cudaFree(ptr_); }
  GpuArray(const GpuArray&) = delete;
  GpuArray& operator=(const GpuArray&) = delete;

  void Upload(const float* source) {
    CHECK(cudaMemcpy(ptr_, source, SizeInBytes(), cudaMemcpyHostToDevice));
  }
  void Download(float* destination) const {
    CHECK(cudaMemcpy(destination, ptr_, SizeInBytes(), cudaMemcpyDeviceToHost));
  }
  size_t SizeInBytes() const { return count_ * sizeof(float); }
  float* Data() const { return ptr_; }

 private:
  float* ptr_ = nullptr;
  size_t count_;
};

struct Cell {
  int Row;
  int Column;
  __device__ bool IsInside(int size) const { return Row < size && Column < size; }
};

__device__ Cell CurrentCell() {
  Cell cell;
  cell.Row = threadIdx.y + blockDim.y * blockIdx.y;
  cell.Column = threadIdx.x + blockDim.x * blockIdx.x;
  return cell;
}

__global__ void MultiplyKernel(const float* left, const float* right, float* result, int size) {
  const Cell cell = CurrentCell();
  if (cell.IsInside(size)) {
    float total = 0.0f;
    int index = 0;
    while (index < size) {
      const float a = left[cell.Row * size + index];
      const float b = right[index * size + cell.Column];
      total = total + a * b;
      index++;
    }
    result[cell.Row * size + cell.Column] = total;
  }
}

int DivideRoundingUp(int total, int chunk) { return (total - 1) / chunk + 1; }

}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const size_t count = static_cast<size_t>(width) * width;
  GpuArray left(count), right(count), result(count);
  left.Upload(M);
  right.Upload(N);

  const int blockWidth = 32, blockHeight = 8;
  dim3 threads(blockWidth, blockHeight);
  dim3 blocks(DivideRoundingUp(width, blockWidth), DivideRoundingUp(width, blockHeight));
  MultiplyKernel<<<blocks, threads>>>(left.Data(), right.Data(), result.Data(), width);
  CHECK(cudaGetLastError());

  result.Download(P);
}
