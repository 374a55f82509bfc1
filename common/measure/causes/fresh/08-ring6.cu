// Lab 08 with a ring of three slots: two phases are on their way while one is computed.
#include "check.h"
#include "copy_async.h"

#define SLOTS 3
#define T 64    // side of a block's part of P
#define Z 16    // depth of a phase
#define NT 256  // threads

struct Slot {
  float a[T][Z];
  float b[Z][T];
};

struct Source {
  const float* p;
  int rows, cols;

  __device__ void send(float* to, int r, int c) const {
    const float* from = p + size_t(r) * cols + c;
    if (cols % 4 == 0) {
      bool ok = r < rows && c < cols;
      copy_async<16>(to, ok ? from : p, ok);
      return;
    }
    for (int q = 0; q < 4; ++q) {
      bool ok = r < rows && c + q < cols;
      copy_async<4>(to + q, ok ? from + q : p, ok);
    }
  }
};

__device__ void request(Slot& slot, const Source& A, const Source& B, int y, int x, int z) {
  int t = threadIdx.x;
  int ar = t / (Z / 4), ac = t % (Z / 4) * 4;
  int br = t / (T / 4), bc = t % (T / 4) * 4;
  A.send(&slot.a[ar][ac], y + ar, z + ac);
  B.send(&slot.b[br][bc], z + br, x + bc);
}

__global__ void ringKernel(Source A, Source B, float* C) {
  __shared__ alignas(16) Slot ring[SLOTS];
  int y = blockIdx.y * T, x = blockIdx.x * T;
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int phases = (A.cols + Z - 1) / Z;

  for (int p = 0; p < SLOTS - 1; ++p) {
    if (p < phases) request(ring[p], A, B, y, x, p * Z);
    __pipeline_commit();  // also where nothing was asked for: groups are counted
  }

  float4 acc[4] = {};
  int use = 0, fill = SLOTS - 1;
  for (int p = 0; p < phases; ++p) {
    __pipeline_wait_prior(SLOTS - 2);
    __syncthreads();

    int ahead = p + SLOTS - 1;
    if (ahead < phases) request(ring[fill], A, B, y, x, ahead * Z);
    __pipeline_commit();
    if (++fill == SLOTS) fill = 0;

    Slot& s = ring[use];
    if (++use == SLOTS) use = 0;
    for (int d = 0; d < Z; d += 4) {
      float4 n[4];
      for (int q = 0; q < 4; ++q) n[q] = *(float4*)&s.b[d + q][4 * tx];
      for (int r = 0; r < 4; ++r) {
        float4 m4 = *(float4*)&s.a[ty + 16 * r][d];
        float m[4] = {m4.x, m4.y, m4.z, m4.w};
        for (int q = 0; q < 4; ++q) {
          acc[r].x += m[q] * n[q].x;
          acc[r].y += m[q] * n[q].y;
          acc[r].z += m[q] * n[q].z;
          acc[r].w += m[q] * n[q].w;
        }
      }
    }
  }

  int col = x + 4 * tx;
  for (int r = 0; r < 4; ++r) {
    int row = y + ty + 16 * r;
    if (row >= A.rows || col >= B.cols) continue;
    float* to = C + size_t(row) * B.cols + col;
    if (B.cols % 4 == 0) {
      *(float4*)to = acc[r];
    } else {
      to[0] = acc[r].x;
      if (col + 1 < B.cols) to[1] = acc[r].y;
      if (col + 2 < B.cols) to[2] = acc[r].z;
      if (col + 3 < B.cols) to[3] = acc[r].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Source A = {M, j, k};
  Source B = {N, k, l};
  dim3 grid((l + T - 1) / T, (j + T - 1) / T);
  ringKernel<<<grid, NT>>>(A, B, P);
  CHECK(cudaGetLastError());
}
