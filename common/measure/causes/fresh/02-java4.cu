#include <stdexcept>
#include <string>

// One multiplication, with everything it needs to know.
class BlockMultiplier {
 public:
  static constexpr int SIDE = 16;

  __device__ BlockMultiplier(float (*left)[SIDE], float (*right)[SIDE], int n)
      : left_(left), right_(right), n_(n), x_(threadIdx.x % SIDE), y_(threadIdx.x / SIDE) {}

  __device__ int getRow() const { return blockIdx.y * SIDE + y_; }
  __device__ int getColumn() const { return blockIdx.x * SIDE + x_; }

  __device__ void fetch(const float* m, const float* n) {
    left_[y_][x_] = *m;
    right_[y_][x_] = *n;
  }

  __device__ void accumulate() {
    int i = 0;
    do {
      result_ += left_[y_][i] * right_[i][x_];
    } while (++i < SIDE);
  }

  __device__ float run(const float* m, const float* n) {
    const float* nextM = m + getRow() * n_ + x_;
    const float* nextN = n + y_ * n_ + getColumn();
    int remaining = n_ / SIDE;
    while (remaining-- > 0) {
      fetch(nextM, nextN);
      __syncthreads();
      accumulate();
      __syncthreads();
      nextM += SIDE;
      nextN += SIDE * n_;
    }
    return result_;
  }

 private:
  float (*left_)[SIDE];
  float (*right_)[SIDE];
  int n_;
  int x_;
  int y_;
  float result_ = 0.0f;
};

__global__ void multiplyKernel(const float* m, const float* n, float* p, int width) {
  __shared__ float left[BlockMultiplier::SIDE][BlockMultiplier::SIDE];
  __shared__ float right[BlockMultiplier::SIDE][BlockMultiplier::SIDE];
  BlockMultiplier multiplier(left, right, width);
  p[multiplier.getRow() * width + multiplier.getColumn()] = multiplier.run(m, n);
}

void solve(const float* M, const float* N, float* P, int width) {
  int blocksPerSide = width / BlockMultiplier::SIDE;
  dim3 grid(blocksPerSide, blocksPerSide, 1);
  multiplyKernel<<<grid, BlockMultiplier::SIDE * BlockMultiplier::SIDE>>>(M, N, P, width);
  cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string("launch failed: ") + cudaGetErrorString(error));
  }
}
