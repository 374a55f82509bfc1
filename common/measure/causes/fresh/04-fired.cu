// a launcher for any kernel; the shape of the tile is a type
#include "check.h"

template <int X, int Y>
struct Tile {
  static constexpr int x = X, y = Y;
  static dim3 block() { return dim3(X, Y); }
  static dim3 grid(int rows, int columns) { return dim3((columns + X - 1) / X, (rows + Y - 1) / Y); }
};

template <class Shape, class... Args>
void fire(void (*kernel)(Args...), int rows, int columns, Args... args) {
  kernel<<<Shape::grid(rows, columns), Shape::block()>>>(args...);
  CHECK(cudaGetLastError());
}

template <class Shape>
__global__ void tiled(const float* m, const float* n, float* p, int j, int k, int l) {
  constexpr int D = Shape::x;
  __shared__ float a[Shape::y][D], b[D][Shape::x];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int c = blockIdx.x * Shape::x + tx, r = blockIdx.y * Shape::y + ty;
  float v = 0;
  for (int z = 0; z < k; z += D) {
    a[ty][tx] = r < j && z + tx < k ? m[size_t(r) * k + z + tx] : 0.0f;
    for (int i = ty; i < D; i += Shape::y) b[i][tx] = z + i < k && c < l ? n[size_t(z + i) * l + c] : 0.0f;
    __syncthreads();
    for (int i = 0; i < D; ++i) v += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  if (r < j && c < l) p[size_t(r) * l + c] = v;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  using Shape = Tile<32, 16>;
  fire<Shape>(tiled<Shape>, j, l, M, N, P, j, k, l);
}
