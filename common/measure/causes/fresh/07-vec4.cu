// lab 07 - like a shader: everything is a float4
#include "check.h"

static const int MT = 64, NTILE = 64, KT = 16;
static const int DIMX = 16, DIMY = 16;

__device__ inline void madd(float4& acc, float s, const float4& v) {
  acc.x += s * v.x;
  acc.y += s * v.y;
  acc.z += s * v.z;
  acc.w += s * v.w;
}

struct Surface {
  const float* ptr;
  int height, pitch;
  bool aligned;  // can rows be read as float4?

  __device__ float one(int y, int x) const { return x < pitch ? ptr[size_t(y) * pitch + x] : 0.0f; }

  __device__ float4 fetch(int y, int x) const {
    if (y >= height) return make_float4(0, 0, 0, 0);
    if (!aligned) return make_float4(one(y, x), one(y, x + 1), one(y, x + 2), one(y, x + 3));
    if (x >= pitch) return make_float4(0, 0, 0, 0);
    return reinterpret_cast<const float4*>(ptr)[(size_t(y) * pitch + x) >> 2];
  }
};

__device__ void put(float* P, int rows, int cols, int y, int x, float4 v) {
  if (y >= rows) return;
  float* dst = P + size_t(y) * cols + x;
  if ((cols & 3) == 0) {
    if (x < cols) *(float4*)dst = v;
    return;
  }
  switch (min(cols - x, 4)) {
    case 4: dst[3] = v.w;
    case 3: dst[2] = v.z;
    case 2: dst[1] = v.y;
    case 1: dst[0] = v.x;
    default: break;
  }
}

__global__ void shade(Surface m, Surface n, float* P) {
  __shared__ float4 bufM[MT][KT / 4];
  __shared__ float4 bufN[KT][NTILE / 4];

  const int x = threadIdx.x, y = threadIdx.y;
  const int lin = y * DIMX + x;
  const int oy = blockIdx.y * MT, ox = blockIdx.x * NTILE;

  float4 acc[4];
  for (int q = 0; q < 4; ++q) acc[q] = make_float4(0, 0, 0, 0);

  for (int z = 0; z < m.pitch; z += KT) {
    const int my = lin / (KT / 4), mx = lin % (KT / 4);
    bufM[my][mx] = m.fetch(oy + my, z + mx * 4);
    const int ny = lin / (NTILE / 4), nx = lin % (NTILE / 4);
    bufN[ny][nx] = n.fetch(z + ny, ox + nx * 4);
    __syncthreads();

    for (int g = 0; g < KT / 4; ++g) {
      const float4 n0 = bufN[4 * g + 0][x];
      const float4 n1 = bufN[4 * g + 1][x];
      const float4 n2 = bufN[4 * g + 2][x];
      const float4 n3 = bufN[4 * g + 3][x];
      for (int q = 0; q < 4; ++q) {
        const float4 mm = bufM[y + q * DIMY][g];
        madd(acc[q], mm.x, n0);
        madd(acc[q], mm.y, n1);
        madd(acc[q], mm.z, n2);
        madd(acc[q], mm.w, n3);
      }
    }
    __syncthreads();
  }

  for (int q = 0; q < 4; ++q) put(P, m.height, n.pitch, oy + y + q * DIMY, ox + 4 * x, acc[q]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Surface m{M, j, k, k % 4 == 0};
  Surface n{N, k, l, l % 4 == 0};
  dim3 grid((l + NTILE - 1) / NTILE, (j + MT - 1) / MT);
  shade<<<grid, dim3(DIMX, DIMY)>>>(m, n, P);
  CHECK(cudaGetLastError());
}
