// Lab 04. In our simulation code a field knows its own extent, so do my matrices.
#include "check.h"

struct Field {
  float* value;
  long long ny, nx;  // rows, columns

  __device__ bool contains(long long y, long long x) const { return y < ny && x < nx; }
  __device__ float& at(long long y, long long x) const { return value[y * nx + x]; }
  __device__ float sample(long long y, long long x) const {
    if (!contains(y, x)) return 0.0f;  // vacuum outside of the box
    return at(y, x);
  }
};

constexpr int DX = 32;  // extent of a cell block
constexpr int DY = 16;
constexpr int DZ = 32;  // depth of a step

__host__ __device__ inline int blocksFor(long long extent, int d) {
  return int((extent + d - 1) / d);
}

__global__ void interact(Field source, Field kernel, Field out) {
  __shared__ float src[DY][DZ];
  __shared__ float ker[DZ][DX];
  const int ix = threadIdx.x, iy = threadIdx.y;
  const long long y0 = (long long)blockIdx.y * DY, x0 = (long long)blockIdx.x * DX;

  float force = 0.0f;
  for (int z0 = 0; z0 < source.nx; z0 += DZ) {
    src[iy][ix] = source.sample(y0 + iy, z0 + ix);
    for (int half = 0; half < DZ; half += DY) {  // twice as deep as the block is high
      ker[half + iy][ix] = kernel.sample(z0 + half + iy, x0 + ix);
    }
    __syncthreads();
    for (int z = 0; z < DZ; ++z) force += src[iy][z] * ker[z][ix];
    __syncthreads();
  }
  if (out.contains(y0 + iy, x0 + ix)) out.at(y0 + iy, x0 + ix) = force;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Field m{const_cast<float*>(M), j, k};
  Field n{const_cast<float*>(N), k, l};
  Field p{P, j, l};
  dim3 threads(DX, DY);
  dim3 grid(blocksFor(p.nx, DX), blocksFor(p.ny, DY));
  interact<<<grid, threads>>>(m, n, p);
  CHECK(cudaGetLastError());
}
