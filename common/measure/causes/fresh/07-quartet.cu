#include <cuda_runtime.h>

// Everything is a quartet of floats; a row of quartets ends with one that is filled up with 0.
typedef float4 quartet;
enum { BLK = 64, DEP = 16, THR = 256 };

__device__ __forceinline__ quartet fetch(const float* base, int rows, int cols, int r, int c) {
  quartet q = make_float4(0.f, 0.f, 0.f, 0.f);
  if (r >= rows || c >= cols) return q;
  const float* at = base + (long)r * cols + c;
  if ((cols & 3) == 0) return *(const quartet*)at;
  q.x = at[0];
  if (c + 1 < cols) q.y = at[1];
  if (c + 2 < cols) q.z = at[2];
  if (c + 3 < cols) q.w = at[3];
  return q;
}

__device__ __forceinline__ void give(float* base, int rows, int cols, int r, int c, quartet q) {
  if (r >= rows || c >= cols) return;
  float* at = base + (long)r * cols + c;
  if ((cols & 3) == 0) {
    *(quartet*)at = q;
    return;
  }
  at[0] = q.x;
  if (c + 1 < cols) at[1] = q.y;
  if (c + 2 < cols) at[2] = q.z;
  if (c + 3 < cols) at[3] = q.w;
}

__device__ __forceinline__ void axpy(quartet& y, float a, const quartet& x) {
  y.x += a * x.x;
  y.y += a * x.y;
  y.z += a * x.z;
  y.w += a * x.w;
}

__global__ void __launch_bounds__(THR)
quartets(const float* m, const float* n, float* p, int j, int k, int l) {
  __shared__ quartet tm[BLK][DEP / 4];
  __shared__ quartet tn[DEP][BLK / 4];
  const int t = threadIdx.x;
  const int mr = t / (DEP / 4), mq = t % (DEP / 4);  // of the left tile
  const int nr = t / (BLK / 4), nq = t % (BLK / 4);  // of the right tile
  const int v = t >> 4, h = t & 15;
  const int row0 = BLK * blockIdx.y, col0 = BLK * blockIdx.x;
  quartet acc[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) acc[i] = make_float4(0.f, 0.f, 0.f, 0.f);

  for (int d0 = 0; d0 < k; d0 += DEP) {
    tm[mr][mq] = fetch(m, j, k, row0 + mr, d0 + 4 * mq);
    tn[nr][nq] = fetch(n, k, l, d0 + nr, col0 + 4 * nq);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < DEP / 4; ++q) {
      const quartet n0 = tn[4 * q][h], n1 = tn[4 * q + 1][h];
      const quartet n2 = tn[4 * q + 2][h], n3 = tn[4 * q + 3][h];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const quartet a = tm[v + 16 * i][q];
        axpy(acc[i], a.x, n0);
        axpy(acc[i], a.y, n1);
        axpy(acc[i], a.z, n2);
        axpy(acc[i], a.w, n3);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) give(p, j, l, row0 + v + 16 * i, col0 + 4 * h, acc[i]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid;
  grid.x = l / BLK + (l % BLK ? 1 : 0);
  grid.y = j / BLK + (j % BLK ? 1 : 0);
  quartets<<<grid, THR>>>(M, N, P, j, k, l);
}
