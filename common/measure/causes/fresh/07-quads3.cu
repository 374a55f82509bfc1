// Lab 07: everything is counted in quads (float4). A matrix view decides once whether its rows are aligned.
#include "check.h"

constexpr int Q = 4;
constexpr int BLK = 64, DEPTH = 16, NTHR = 256;
constexpr int QPR_M = DEPTH / Q;  // quads per row of the tile of M: 4
constexpr int QPR_N = BLK / Q;    // quads per row of the tile of N: 16

template <typename Ptr>
struct Mat {
  Ptr base;
  int h, w;
  bool vec;  // may be read and written by quads

  __host__ __device__ Mat(Ptr b, int h_, int w_) : base(b), h(h_), w(w_), vec(w_ % Q == 0) {}
  __device__ size_t off(int r, int c) const { return (size_t)r * w + c; }
};

__device__ float4 readQuad(const Mat<const float*>& A, int r, int c) {
  float4 q = make_float4(0, 0, 0, 0);
  if (r < A.h && c < A.w) {
    const float* f = A.base + A.off(r, c);
    if (A.vec) {
      q = *(const float4*)f;
    } else {
      const int left = A.w - c;  // at least 1
      q.x = f[0];
      if (left > 1) q.y = f[1];
      if (left > 2) q.z = f[2];
      if (left > 3) q.w = f[3];
    }
  }
  return q;
}

__device__ void writeQuad(const Mat<float*>& A, int r, int c, float4 q) {
  if (r >= A.h || c >= A.w) return;
  float* f = A.base + A.off(r, c);
  if (A.vec) {
    *(float4*)f = q;
    return;
  }
  const int left = A.w - c;
  f[0] = q.x;
  if (left > 1) f[1] = q.y;
  if (left > 2) f[2] = q.z;
  if (left > 3) f[3] = q.w;
}

__device__ void axpy(float4& acc, float s, const float4& v) {
  acc.x += s * v.x;
  acc.y += s * v.y;
  acc.z += s * v.z;
  acc.w += s * v.w;
}

__global__ void quadKernel(Mat<const float*> M, Mat<const float*> N, Mat<float*> P) {
  __shared__ float4 tm[BLK][QPR_M];
  __shared__ float4 tn[DEPTH][QPR_N];

  const int id = threadIdx.x;
  const int qx = id % QPR_N, qy = id / QPR_N;
  const int r0 = BLK * blockIdx.y, c0 = BLK * blockIdx.x;

  float4 acc[Q];
  for (int r = 0; r < Q; ++r) acc[r] = make_float4(0, 0, 0, 0);

  for (int kk = 0; kk < M.w; kk += DEPTH) {
    const int mr = id / QPR_M, mq = id % QPR_M;
    tm[mr][mq] = readQuad(M, r0 + mr, kk + mq * Q);
    tn[qy][qx] = readQuad(N, kk + qy, c0 + qx * Q);
    __syncthreads();

#pragma unroll
    for (int g = 0; g < QPR_M; ++g) {
      float4 n[Q];
#pragma unroll
      for (int s = 0; s < Q; ++s) n[s] = tn[g * Q + s][qx];
#pragma unroll
      for (int r = 0; r < Q; ++r) {
        const float4 m = tm[qy + r * 16][g];
        axpy(acc[r], m.x, n[0]);
        axpy(acc[r], m.y, n[1]);
        axpy(acc[r], m.z, n[2]);
        axpy(acc[r], m.w, n[3]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < Q; ++r) writeQuad(P, r0 + qy + r * 16, c0 + qx * Q, acc[r]);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + BLK - 1) / BLK, (j + BLK - 1) / BLK);
  quadKernel<<<grid, NTHR>>>({M, j, k}, {N, k, l}, {P, j, l});
  CHECK(cudaGetLastError());
}
