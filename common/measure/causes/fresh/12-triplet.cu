// Lab 12: a float becomes a triplet; 4 x 2 warps of 32 x 64; the six products by a table of pairs.
#include "check.h"
#include "tensor.h"

using bf16 = __nv_bfloat16;
using Fragment = uint32_t[4];

constexpr int EDGE = 128, STEP = 16, SPACE_M = STEP + 8, SPACE_N = EDGE + 8, CREW = 256;
constexpr float SCALE = 256.0f;

struct Triplet {
  bf16 big, mid, tiny;
  __device__ explicit Triplet(float x) {
    big = __float2bfloat16_rn(x);
    const float rest = (x - __bfloat162float(big)) * SCALE;
    mid = __float2bfloat16_rn(rest);
    tiny = __float2bfloat16_rn((rest - __bfloat162float(mid)) * SCALE);
  }
};

template <int Size>
struct Stack {  // three tiles, one above the other
  bf16 of[3][Size];
  __device__ void put(int where, const Triplet& t) {
    of[0][where] = t.big;
    of[1][where] = t.mid;
    of[2][where] = t.tiny;
  }
};

__device__ float peek(const float* A, int h, int w, int y, int x) {
  if (y < h && x < w) return A[size_t(y) * w + x];
  return 0.0f;
}

__global__ void __launch_bounds__(CREW, 2)
    triplets(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) Stack<EDGE * SPACE_M> ms;
  __shared__ alignas(16) Stack<STEP * SPACE_N> ns;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int y0 = blockIdx.y * EDGE, x0 = blockIdx.x * EDGE;
  const int wy = warp / 2 * 32, wx = warp % 2 * 64;
  const int name = lane % 16, half = lane / 16 * 8;

  float total[2][8][4] = {};
  for (int z = 0; z < k; z += STEP) {
    for (int e = t; e < EDGE * STEP; e += CREW) {
      const int y = e / STEP, i = e % STEP;
      ms.put(y * SPACE_M + i, Triplet(peek(M, j, k, y0 + y, z + i)));
      const int row = e / EDGE, x = e % EDGE;
      ns.put(row * SPACE_N + x, Triplet(peek(N, k, l, z + row, x0 + x)));
    }
    __syncthreads();

    Fragment a[2][3];
    for (int r = 0; r < 2; ++r)
      for (int s = 0; s < 3; ++s)
        load_matrices(a[r][s], &ms.of[s][(wy + 16 * r + name) * SPACE_M + half]);
    for (int c = 0; c < 8; c += 2) {
      Fragment b[3];
      for (int s = 0; s < 3; ++s)
        load_matrices_transposed(b[s], &ns.of[s][name * SPACE_N + wx + 8 * c + half]);
      for (int q = 0; q < 4; ++q) {
        const int r = q / 2, side = q % 2;
        float fine[4] = {}, main[4] = {};
        for (int s = 0; s <= 2; ++s) multiply_add(fine, a[r][s], &b[2 - s][2 * side]);
        for (int e = 0; e < 4; ++e) fine[e] /= SCALE;
        for (int s = 0; s <= 1; ++s) multiply_add(fine, a[r][s], &b[1 - s][2 * side]);
        multiply_add(main, a[r][0], &b[0][2 * side]);
        float* to = total[r][c + side];
        for (int e = 0; e < 4; ++e) to[e] += main[e] + fine[e] / SCALE;
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 8; ++c) {
      const float* v = total[r][c];
      for (int e = 0; e < 4; e += 2) {
        const int y = y0 + wy + 16 * r + 4 * e + lane / 4;
        const int x = x0 + wx + 8 * c + lane % 4 * 2;
        if (y >= j || x >= l) continue;
        float* p = P + size_t(y) * l + x;
        if (l % 2 == 0) {
          *reinterpret_cast<float2*>(p) = make_float2(v[e], v[e + 1]);
        } else {
          p[0] = v[e];
          if (x + 1 < l) p[1] = v[e + 1];
        }
      }
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + EDGE - 1) / EDGE, (j + EDGE - 1) / EDGE);
  triplets<<<grid, CREW>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
