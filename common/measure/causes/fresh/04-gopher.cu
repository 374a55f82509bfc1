// Lab 04. package matmul // from Go: types with methods, err != nil
#include <cstdio>
#include <cstdlib>

constexpr int T = 16;

struct Matrix {
  const float* data;
  int rows, cols;

  // At returns the element, or 0 if there is none.
  __device__ float At(int r, int c) const {
    bool ok = r < rows && c < cols;
    return ok ? data[(long long)r * cols + c] : 0.f;
  }
};

struct Out {
  float* data;
  int rows, cols;

  __device__ void Set(int r, int c, float v) {
    if (r >= rows) return;
    if (c >= cols) return;
    data[(long long)r * cols + c] = v;
  }
};

struct Tiles {
  float a[T][T];
  float b[T][T];
};

__global__ void mul(Matrix a, Matrix b, Out out) {
  __shared__ Tiles sh;
  const int x = threadIdx.x, y = threadIdx.y;
  const int r = blockIdx.y * T + y, c = blockIdx.x * T + x;

  float sum = 0.f;
  for (int off = 0; off < a.cols; off += T) {
    sh.a[y][x] = a.At(r, off + x);
    sh.b[y][x] = b.At(off + y, c);
    __syncthreads();

    auto dot = [&](float start) {
      for (int i = 0; i < T; i++) start += sh.a[y][i] * sh.b[i][x];
      return start;
    };
    sum = dot(sum);
    __syncthreads();
  }
  out.Set(r, c, sum);
}

static int blocksFor(int n) {
  int b = n / T;
  return n % T == 0 ? b : b + 1;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Matrix a{M, j, k};
  Matrix b{N, k, l};
  Out out{P, j, l};
  dim3 grid(blocksFor(out.cols), blocksFor(out.rows));
  mul<<<grid, dim3(T, T)>>>(a, b, out);
  if (auto err = cudaGetLastError(); err != cudaSuccess) {
    std::fprintf(stderr, "mul: %s\n", cudaGetErrorString(err));
    std::exit(2);
  }
}
