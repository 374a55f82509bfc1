// Lab 06 without padding: the columns of each row of the M tile are permuted by XOR, and a warp
// loads 8 columns of 4 rows.
#include "check.h"

constexpr int H = 64, W = 64, D = 16;
constexpr int GX = 16, GY = 16;
constexpr int COUNT = GX * GY;

// place of column r in row i of the tile of M; groups of four stay together
__device__ __forceinline__ int place(int i, int r) { return i * H + (r ^ ((i & 7) << 2)); }

__global__ void swizzled(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) float ms[D * H];
  __shared__ float ns[D][W];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int t = ty * GX + tx;
  const int y0 = blockIdx.y * H, x0 = blockIdx.x * W;

  const int sub = t & 7;    // column inside a group of eight
  const int strip = t >> 3; // 0..31

  float s[4][4] = {};
  for (int base = 0; base < k; base += D) {
    for (int half = 0; half < D; half += 8) {
      for (int r = strip; r < H; r += COUNT / 8) {
        const int i = half + sub;
        const int row = y0 + r, col = base + i;
        float val = 0.0f;
        if (row < j && col < k) val = M[size_t(row) * k + col];
        ms[place(i, r)] = val;
      }
    }
    for (int i = t / W; i < D; i += COUNT / W) {
      const int c = t % W;
      const int row = base + i, col = x0 + c;
      float val = 0.0f;
      if (row < k && col < l) val = N[size_t(row) * l + col];
      ns[i][c] = val;
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < D; ++i) {
      float a[4], b[4];
      const float* four = &ms[place(i, ty * 4)];
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        a[q] = four[q];
        b[q] = ns[i][tx + GX * q];
      }
#pragma unroll
      for (int q = 0; q < 16; ++q) s[q >> 2][q & 3] += a[q >> 2] * b[q & 3];
    }
    __syncthreads();
  }

  for (int q = 0; q < 16; ++q) {
    const int row = y0 + ty * 4 + (q >> 2);
    const int col = x0 + tx + GX * (q & 3);
    if (row < j && col < l) P[size_t(row) * l + col] = s[q >> 2][q & 3];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + W - 1) / W, (j + H - 1) / H);
  swizzled<<<grid, dim3(GX, GY)>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
