#include "check.h"
#include "copy_async.h"

// Places of a thread, computed once.
struct Place {
  int warp, lane;
  int wr, wc;  // corner of the warp's tile in the block's
  int ly, lx;  // of the lane in the warp
  __device__ explicit Place(int t) : warp(t >> 5), lane(t & 31) {
    wr = (warp >> 2) << 6;
    wc = (warp & 3) << 5;
    ly = ((lane >> 3) << 1) | ((lane >> 1) & 1);
    lx = ((lane >> 1) & 2) | (lane & 1);
  }
};

constexpr int B = 128, D = 16, NTHR = 256, PADM = 4, PADO = 16;

__device__ float4 ld4(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ void st4(float* p, float a, float b, float c, float d) {
  *reinterpret_cast<float4*>(p) = make_float4(a, b, c, d);
}

template <int ROWS, int COLS, int PITCH>
__device__ void bring(float* tile, const float* A, int rows, int cols, int r0, int c0) {
  for (int q = threadIdx.x; q < ROWS * COLS / 4; q += NTHR) {
    const int r = q / (COLS / 4), c = q % (COLS / 4) * 4;
    float* to = tile + r * PITCH + c;
    const bool rowIn = r0 + r < rows;
    const float* from = A + size_t(r0 + r) * cols + c0 + c;
    if (cols % 4 == 0) {
      const bool in = rowIn && c0 + c < cols;
      copy_async<16>(to, in ? from : A, in);
    } else {
      for (int i = 0; i < 4; ++i) {
        const bool in = rowIn && c0 + c + i < cols;
        copy_async<4>(to + i, in ? from + i : A, in);
      }
    }
  }
}

__global__ void __launch_bounds__(NTHR, 2)
    lanes(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ alignas(16) float ms[2][B][D + PADM];
  __shared__ alignas(16) float ns[2][D][B];
  __shared__ alignas(16) float exitBuf[NTHR / 32][8][32 + PADO];
  const Place me(threadIdx.x);
  const int by = blockIdx.y * B, bx = blockIdx.x * B;

  float acc[8][8] = {};
  bring<B, D, D + PADM>(&ms[0][0][0], M, j, k, by, 0);
  bring<D, B, B>(&ns[0][0][0], N, k, l, 0, bx);
  __pipeline_commit();

  int now = 0;
  for (int z = 0; z < k; z += D) {
    __pipeline_wait_prior(0);
    __syncthreads();
    const int next = now ^ 1;
    if (z + D < k) {
      bring<B, D, D + PADM>(&ms[next][0][0], M, j, k, by, z + D);
      bring<D, B, B>(&ns[next][0][0], N, k, l, z + D, bx);
      __pipeline_commit();
    }
    for (int i = 0; i < D; i += 4) {
      float a[8][4];
      for (int r = 0; r < 8; ++r) {
        const float4 v = ld4(&ms[now][me.wr + me.ly + 8 * r][i]);
        a[r][0] = v.x, a[r][1] = v.y, a[r][2] = v.z, a[r][3] = v.w;
      }
      for (int s = 0; s < 4; ++s) {
        const float4 u = ld4(&ns[now][i + s][me.wc + 4 * me.lx]);
        const float4 w = ld4(&ns[now][i + s][me.wc + 4 * me.lx + 16]);
        const float b[8] = {u.x, u.y, u.z, u.w, w.x, w.y, w.z, w.w};
        for (int r = 0; r < 8; ++r)
          for (int c = 0; c < 8; ++c) acc[r][c] += a[r][s] * b[c];
      }
    }
    now = next;
  }

  float(*mine)[32 + PADO] = exitBuf[me.warp];
  const int col = bx + me.wc + me.lane;
  for (int r = 0; r < 8; ++r) {
    const float* v = acc[r];
    st4(&mine[me.ly][4 * me.lx], v[0], v[1], v[2], v[3]);
    st4(&mine[me.ly][4 * me.lx + 16], v[4], v[5], v[6], v[7]);
    __syncwarp();
    for (int s = 0; s < 8; ++s) {
      const int row = by + me.wr + 8 * r + s;
      if (row < j && col < l) P[size_t(row) * l + col] = mine[s][me.lane];
    }
    __syncwarp();
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = (l + B - 1) / B;
  grid.y = (j + B - 1) / B;
  lanes<<<grid, NTHR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
