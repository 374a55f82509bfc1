// A few blocks take the pieces of P one after the other.
#include <algorithm>
#include <map>
#include <string>

namespace {

constexpr int EDGE = 16;

struct Size {
  int j, k, l;
};

__host__ __device__ constexpr int divide(int whole, int by) {
  return (whole + by - 1) / by;
}

struct Sum {
  float value = 0.0f;
  __device__ Sum& operator+=(float more) {
    value += more;
    return *this;
  }
  __device__ operator float() const { return value; }
};

__global__ void take(const float* m, const float* n, float* p, Size size) {
  __shared__ float ms[EDGE][EDGE], ns[EDGE][EDGE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int across = divide(size.l, EDGE), pieces = across * divide(size.j, EDGE);
  for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const int row = piece / across * EDGE + y;
    const int col = piece % across * EDGE + x;
    Sum sum;
    for (int from = 0; from < size.k; from += EDGE) {
      ms[y][x] = row < size.j && from + x < size.k ? m[(long long)row * size.k + from + x] : 0;
      ns[y][x] = col < size.l && from + y < size.k ? n[(long long)(from + y) * size.l + col] : 0;
      __syncthreads();
      for (int i = 0; i < EDGE; ++i) sum += ms[y][i] * ns[i][x];
      __syncthreads();
    }
    if (row < size.j && col < size.l) p[(long long)row * size.l + col] = sum;
  }
}

}  // namespace

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  static const std::map<std::string, int> limits = {{"blocks", 400}};
  const int pieces = divide(j, EDGE) * divide(l, EDGE);
  take<<<std::min(pieces, limits.at("blocks")), dim3(EDGE, EDGE)>>>(M, N, P, {j, k, l});
}
