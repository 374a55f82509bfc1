// everything in a tuple; std::apply hands it to the kernel
#include <tuple>

#include "check.h"

template <unsigned X, unsigned Y>
struct Tile {
  static constexpr unsigned x = X, y = Y;
};

template <class T>
__global__ void tiled(const float* __restrict__ left, const float* __restrict__ right, float* __restrict__ out, int rows,
                      int inner, int columns) {
  __shared__ float l[T::y][T::x];
  __shared__ float r[T::x][T::x];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * T::y + ty, column = blockIdx.x * T::x + tx;
  float sum = 0.f;
  for (int begin = 0; begin < inner; begin += T::x) {
    l[ty][tx] = row < rows && begin + tx < inner ? left[size_t(row) * inner + begin + tx] : 0.f;
    for (int y = ty; y < int(T::x); y += T::y)
      r[y][tx] = begin + y < inner && column < columns ? right[size_t(begin + y) * columns + column] : 0.f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < int(T::x); ++i) sum += l[ty][i] * r[i][tx];
    __syncthreads();
  }
  if (row < rows && column < columns) out[size_t(row) * columns + column] = sum;
}

template <class T>
auto configuration(int columns, int rows) {
  return std::make_pair(dim3((columns + T::x - 1) / T::x, (rows + T::y - 1) / T::y), dim3(T::x, T::y));
}

template <class Kernel, class Configuration, class... Given>
void launch(Kernel kernel, const Configuration& configuration, const std::tuple<Given...>& given) {
  std::apply([&](const auto&... one) { kernel<<<configuration.first, configuration.second>>>(one...); }, given);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  using Wide = Tile<32, 16>;
  const auto given = std::make_tuple(M, N, P, j, k, l);
  launch(tiled<Wide>, configuration<Wide>(l, j), given);
}
