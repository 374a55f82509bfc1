#include "check.h"

// Two pairs of tiles: the next pair is fetched to registers while this one is used.
namespace {
constexpr int B = 16;

__global__ void flipFlop(const float* m, const float* n, float* p, const int w) {
  __shared__ float tm[2][B][B], tn[2][B][B];
  const int i = threadIdx.x, j = threadIdx.y;
  const int y = blockIdx.y * B + j, x = blockIdx.x * B + i;
  const auto inside = [w](int r, int c) { return r < w && c < w; };
  const auto fromM = [&](int z) { return inside(y, z + i) ? m[y * w + z + i] : 0.f; };
  const auto fromN = [&](int z) { return inside(z + j, x) ? n[(z + j) * w + x] : 0.f; };

  int which = 0;
  tm[0][j][i] = fromM(0);
  tn[0][j][i] = fromN(0);
  __syncthreads();

  float acc = 0.f;
  for (int z = B; z < w + B; z += B) {
    const float nextM = fromM(z), nextN = fromN(z);
    for (int k = 0; k < B; ++k) acc += tm[which][j][k] * tn[which][k][i];
    which ^= 1;
    tm[which][j][i] = nextM;
    tn[which][j][i] = nextN;
    __syncthreads();
  }
  if (inside(y, x)) p[y * w + x] = acc;
}
}  // namespace

void solve(const float* M, const float* N, float* P, int width) {
  const auto pieces = [](int whole) { return whole / B + (whole % B != 0); };
  flipFlop<<<dim3(pieces(width), pieces(width)), dim3(B, B)>>>(M, N, P, width);
  CHECK(cudaGetLastError());
}
