// 64 x 64 elements of P for 128 threads in four groups: a thread has two columns and sixteen rows
#include <cuda_runtime.h>

const int S = 64, D = 16, LANES = 32, GROUPS = 4, EACH = S / GROUPS;

struct Part {
  int row0, col0;
  int group, lane;
};

__device__ Part part() {
  Part at;
  at.row0 = blockIdx.y * S;
  at.col0 = blockIdx.x * S;
  at.group = threadIdx.x / LANES;
  at.lane = threadIdx.x % LANES;
  return at;
}

__global__ void groups(const float* m, const float* n, float* p, int j, int k, int l) {
  __shared__ __align__(16) float sm[D][S];  // sm[d][r]: M's tile, turned
  __shared__ float sn[D][S];
  const Part at = part();
  float near[EACH] = {}, far[EACH] = {};

  for (int from = 0; from < k; from += D) {
    for (int e = threadIdx.x; e < S * D; e += LANES * GROUPS) {
      const int r = at.row0 + e / D, i = from + e % D;
      sm[e % D][e / D] = i < k && r < j ? m[(size_t)r * k + i] : 0.0f;
    }
    for (int d = at.group; d < D; d += GROUPS) {
      const int i = from + d;
      for (int c = at.lane; c < S; c += LANES)
        sn[d][c] = i < k && at.col0 + c < l ? n[(size_t)i * l + at.col0 + c] : 0.0f;
    }
    __syncthreads();
    for (int d = 0; d < D; ++d) {
      const float* rows = &sm[d][at.group * EACH];
      const float one = sn[d][at.lane], two = sn[d][at.lane + LANES];
      for (int e = 0; e < EACH; ++e) {
        near[e] += rows[e] * one;
        far[e] += rows[e] * two;
      }
    }
    __syncthreads();
  }

  const int c = at.col0 + at.lane;
  for (int e = 0; e < EACH; ++e) {
    const int r = at.row0 + at.group * EACH + e;
    if (r >= j) break;
    if (c < l) p[(size_t)r * l + c] = near[e];
    if (c + LANES < l) p[(size_t)r * l + c + LANES] = far[e];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + S - 1) / S, (j + S - 1) / S);
  groups<<<grid, LANES * GROUPS>>>(M, N, P, j, k, l);
}
