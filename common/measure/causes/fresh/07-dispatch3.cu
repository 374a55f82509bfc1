// Lab 07: the host decides which rows are aligned, the kernel is a template on it.
#include "check.h"

namespace {

constexpr int kRows = 64, kCols = 64, kDepth = 16;
constexpr int kThreads = 256;
constexpr int kLane = 4;  // floats of a vector

using Vec = float4;

__device__ Vec& vec(float* p) { return *(Vec*)p; }
__device__ const Vec& vec(const float* p) { return *(const Vec*)p; }

template <bool Aligned>
__device__ Vec read(const float* base, int rows, int cols, int r, int c) {
  Vec out = make_float4(0, 0, 0, 0);
  if (r >= rows || c >= cols) return out;
  const float* p = base + (size_t)r * cols + c;
  if (Aligned) {
    out = vec(p);
  } else {
    const int have = cols - c;  // floats from here to the end of the row
    out.x = p[0];
    if (have > 1) out.y = p[1];
    if (have > 2) out.z = p[2];
    if (have > 3) out.w = p[3];
  }
  return out;
}

template <bool Aligned>
__device__ void write(float* base, int rows, int cols, int r, int c, Vec v) {
  if (r >= rows || c >= cols) return;
  float* p = base + (size_t)r * cols + c;
  if (Aligned) {
    vec(p) = v;
    return;
  }
  const int have = cols - c;
  p[0] = v.x;
  if (have > 1) p[1] = v.y;
  if (have > 2) p[2] = v.z;
  if (have > 3) p[3] = v.w;
}

__device__ void axpy(Vec& y, float a, const Vec& x) {
  y.x += a * x.x;
  y.y += a * x.y;
  y.z += a * x.z;
  y.w += a * x.w;
}

template <bool AlignedK, bool AlignedL>
__global__ void product(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Vec ms[kRows][kDepth / kLane];
  __shared__ Vec ns[kDepth][kCols / kLane];

  const int id = threadIdx.x;
  const int gx = id % 16, gy = id / 16;
  const int r0 = kRows * blockIdx.y, c0 = kCols * blockIdx.x;

  Vec acc[4];
  for (Vec& a : acc) a = make_float4(0, 0, 0, 0);

  for (int z = 0; z < k; z += kDepth) {
    const int mr = id / 4, mv = id % 4;    // vector mv of row mr
    const int nr = id / 16, nv = id % 16;  // vector nv of row nr
    ms[mr][mv] = read<AlignedK>(M, j, k, r0 + mr, z + kLane * mv);
    ns[nr][nv] = read<AlignedL>(N, k, l, z + nr, c0 + kLane * nv);
    __syncthreads();

    for (int v = 0; v < kDepth / kLane; ++v) {
      const Vec n0 = ns[kLane * v][gx], n1 = ns[kLane * v + 1][gx];
      const Vec n2 = ns[kLane * v + 2][gx], n3 = ns[kLane * v + 3][gx];
      for (int q = 0; q < 4; ++q) {
        const Vec m = ms[gy + 16 * q][v];
        axpy(acc[q], m.x, n0);
        axpy(acc[q], m.y, n1);
        axpy(acc[q], m.z, n2);
        axpy(acc[q], m.w, n3);
      }
    }
    __syncthreads();
  }
  for (int q = 0; q < 4; ++q)
    write<AlignedL>(P, j, l, r0 + gy + 16 * q, c0 + kLane * gx, acc[q]);
}

}  // namespace

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const dim3 grid((l + kCols - 1) / kCols, (j + kRows - 1) / kRows);
  const bool ak = k % kLane == 0, al = l % kLane == 0;
  if (ak && al)
    product<true, true><<<grid, kThreads>>>(M, N, P, j, k, l);
  else if (ak)
    product<true, false><<<grid, kThreads>>>(M, N, P, j, k, l);
  else if (al)
    product<false, true><<<grid, kThreads>>>(M, N, P, j, k, l);
  else
    product<false, false><<<grid, kThreads>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
