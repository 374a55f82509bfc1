// one struct carries everything; 1-D block
#include "check.h"

typedef long long i64;
enum { B = 16 };

struct Problem {
  const float *m, *n;
  float *p;
  int rows, inner, cols;
};

static __device__ inline float pick(const float *base, int r, int c, int nr, int nc) {
  return (r < nr && c < nc) ? base[(i64)r * nc + c] : 0.f;
}

__global__ void run(Problem q) {
  __shared__ float sm[B * B];
  __shared__ float sn[B * B];
  const int t = threadIdx.x;
  const int u = t & (B - 1), v = t / B;
  const int r = blockIdx.y * B + v;
  const int c = blockIdx.x * B + u;

  float acc = 0.f;
  for (int at = 0; at < q.inner; at += B) {
    sm[t] = pick(q.m, r, at + u, q.rows, q.inner);
    sn[t] = pick(q.n, at + v, c, q.inner, q.cols);
    __syncthreads();
    for (int s = 0; s < B; ++s) acc += sm[v * B + s] * sn[s * B + u];
    __syncthreads();
  }
  if (r >= q.rows || c >= q.cols) return;
  q.p[(i64)r * q.cols + c] = acc;
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  Problem q;
  q.m = M;
  q.n = N;
  q.p = P;
  q.rows = j;
  q.inner = k;
  q.cols = l;
  dim3 grid((l + B - 1) / B, (j + B - 1) / B);
  run<<<grid, B * B>>>(q);
  CHECK(cudaGetLastError());
}
