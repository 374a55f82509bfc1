#include <cuda_runtime.h>

// A matrix knows its shape and what lies outside of it.
class Sheet {
 public:
  __host__ __device__ Sheet(float* first, int high, int wide) : first_(first), high_(high), wide_(wide) {}
  __host__ __device__ int high() const { return high_; }
  __host__ __device__ int wide() const { return wide_; }
  __device__ bool has(int r, int c) const { return r < high_ && c < wide_; }
  __device__ float read(int r, int c) const { return has(r, c) ? first_[offset(r, c)] : 0.0f; }
  __device__ void write(int r, int c, float value) {
    if (has(r, c)) first_[offset(r, c)] = value;
  }

 private:
  __device__ size_t offset(int r, int c) const { return static_cast<size_t>(r) * wide_ + c; }
  float* first_;
  int high_, wide_;
};

enum { TILE = 32, ROWS = 8, PART = TILE / ROWS };

// 32 x 8 threads for a tile of 32 x 32: each has four rows, ROWS apart.
__global__ void sheets(Sheet a, Sheet b, Sheet c) {
  __shared__ float sa[TILE][TILE], sb[TILE][TILE];
  const int x = blockIdx.x * TILE + threadIdx.x;
  const int y = blockIdx.y * TILE + threadIdx.y;
  float mine[PART] = {0.0f};
  for (int from = 0; from < a.wide(); from += TILE) {
    for (int part = 0; part < PART; ++part) {
      const int row = threadIdx.y + part * ROWS;
      sa[row][threadIdx.x] = a.read(y + part * ROWS, from + threadIdx.x);
      sb[row][threadIdx.x] = b.read(from + row, x);
    }
    __syncthreads();
    for (int i = 0; i < TILE; ++i) {
      const float factor = sb[i][threadIdx.x];
      for (int part = 0; part < PART; ++part) mine[part] += sa[threadIdx.y + part * ROWS][i] * factor;
    }
    __syncthreads();
  }
  for (int part = 0; part < PART; ++part) c.write(y + part * ROWS, x, mine[part]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Sheet a(const_cast<float*>(M), j, k), b(const_cast<float*>(N), k, l), c(P, j, l);
  const dim3 threads(TILE, ROWS);
  const dim3 blocks((c.wide() + TILE - 1) / TILE, (c.high() + TILE - 1) / TILE);
  sheets<<<blocks, threads>>>(a, b, c);
}
