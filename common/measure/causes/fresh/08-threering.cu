// Asynchronous copies, three stages: two phases are on their way while one is used.
#include "check.h"
#include "copy_async.h"

constexpr int S = 3, B = 64, D = 16;

struct Stage {
  float m[B][D];
  float n[D][B];
};

// where an operand lies and how large it is
struct Operand {
  const float* at;
  int rows, cols;
  bool wide;  // rows begin at multiples of 16 bytes

  __device__ void bring(float* to, int r, int c) const {
    const float* src = at + size_t(r) * cols + c;
    if (wide) {
      const bool ok = r < rows && c < cols;
      copy_async<16>(to, ok ? src : at, ok);
      return;
    }
    for (int i = 0; i < 4; ++i, ++c, ++to, ++src) {
      const bool ok = r < rows && c < cols;
      copy_async<4>(to, ok ? src : at, ok);
    }
  }
};

__device__ float4 four(const float* p) { return *reinterpret_cast<const float4*>(p); }

__device__ void axpy(float4& y, float a, float4 x) {
  y.x += a * x.x, y.y += a * x.y, y.z += a * x.z, y.w += a * x.w;
}

__global__ void ring_kernel(Operand m, Operand n, float* p) {
  __shared__ alignas(16) Stage ring[S];
  const int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  const int row0 = blockIdx.y * B, col0 = blockIdx.x * B;
  const int phases = (m.cols + D - 1) / D;

  auto request = [&](int ph, Stage& st) {
    if (ph < phases) {
      m.bring(&st.m[t / 4][t % 4 * 4], row0 + t / 4, ph * D + t % 4 * 4);
      n.bring(&st.n[ty][tx * 4], ph * D + ty, col0 + tx * 4);
    }
    __pipeline_commit();  // an empty group, too, so that groups can be counted
  };

  float4 acc[4] = {};
  request(0, ring[0]);
  request(1, ring[1]);
  int use = 0, fill = 2;
  for (int ph = 0; ph < phases; ++ph) {
    __pipeline_wait_prior(1);
    __syncthreads();
    request(ph + 2, ring[fill]);
    if (++fill == S) fill = 0;

    const Stage& st = ring[use];
    for (int i = 0; i < D; i += 4) {
      float4 a[4];
      for (int r = 0; r < 4; ++r) a[r] = four(&st.m[ty + 16 * r][i]);
      const float4 b0 = four(&st.n[i][tx * 4]), b1 = four(&st.n[i + 1][tx * 4]);
      const float4 b2 = four(&st.n[i + 2][tx * 4]), b3 = four(&st.n[i + 3][tx * 4]);
      for (int r = 0; r < 4; ++r) {
        axpy(acc[r], a[r].x, b0);
        axpy(acc[r], a[r].y, b1);
        axpy(acc[r], a[r].z, b2);
        axpy(acc[r], a[r].w, b3);
      }
    }
    if (++use == S) use = 0;
  }

  for (int r = 0; r < 4; ++r) {
    const int row = row0 + ty + 16 * r, col = col0 + tx * 4;
    if (row >= m.rows) continue;
    float* to = p + size_t(row) * n.cols + col;
    if (n.wide) {
      if (col < n.cols) *reinterpret_cast<float4*>(to) = acc[r];
      continue;
    }
    if (col < n.cols) to[0] = acc[r].x;
    if (col + 1 < n.cols) to[1] = acc[r].y;
    if (col + 2 < n.cols) to[2] = acc[r].z;
    if (col + 3 < n.cols) to[3] = acc[r].w;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Operand m{M, j, k, k % 4 == 0}, n{N, k, l, l % 4 == 0};
  const dim3 grid((l + B - 1) / B, (j + B - 1) / B);
  ring_kernel<<<grid, 256>>>(m, n, P);
  CHECK(cudaGetLastError());
}
