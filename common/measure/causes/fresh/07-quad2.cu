// Lab 07: quads. A block of 256 threads computes 128 x 64, a thread 8 rows of one quad.
#include "check.h"

typedef float4 quad;

#define BH 128
#define BW 64
#define BD 16
#define RT 8                // rows of a thread
#define LANES_X (BW / 4)    // 16
#define LANES_Y (BH / RT)   // 16
#define NTHREADS (LANES_X * LANES_Y)

__device__ quad zero_quad() { return make_float4(0.f, 0.f, 0.f, 0.f); }

__device__ void axpy(quad &y, float a, quad x) {
  y.x += a * x.x;
  y.y += a * x.y;
  y.z += a * x.z;
  y.w += a * x.w;
}

// quad number q of row r; h x w matrix
__device__ quad fetch(const float *mat, int h, int w, int r, int q) {
  quad v = zero_quad();
  if (r >= h) return v;
  const float *line = mat + (size_t)r * w;
  if ((w & 3) == 0) {
    if (q < w / 4) v = ((const quad *)line)[q];
    return v;
  }
  int left = w - 4 * q;  // how many are left in this row
  line += 4 * q;
  if (left > 0) v.x = line[0];
  if (left > 1) v.y = line[1];
  if (left > 2) v.z = line[2];
  if (left > 3) v.w = line[3];
  return v;
}

__device__ void put(float *mat, int h, int w, int r, int q, quad v) {
  if (r >= h) return;
  float *line = mat + (size_t)r * w;
  if ((w & 3) == 0) {
    if (q < w / 4) ((quad *)line)[q] = v;
    return;
  }
  int left = w - 4 * q;
  line += 4 * q;
  if (left > 0) line[0] = v.x;
  if (left > 1) line[1] = v.y;
  if (left > 2) line[2] = v.z;
  if (left > 3) line[3] = v.w;
}

__global__ void quads(const float *M, const float *N, float *P, int j, int k, int l) {
  __shared__ quad sm[BH][BD / 4];
  __shared__ quad sn[BD][BW / 4];

  int t = threadIdx.x;
  int x = t % LANES_X, y = t / LANES_X;
  int top = blockIdx.y * BH;
  int q0 = blockIdx.x * (BW / 4);  // first quad of the block in a row of P

  quad sum[RT];
  for (int r = 0; r < RT; r++) sum[r] = zero_quad();

  for (int d = 0; d < k; d += BD) {
    for (int r = t / (BD / 4); r < BH; r += NTHREADS / (BD / 4))
      sm[r][t % (BD / 4)] = fetch(M, j, k, top + r, d / 4 + t % (BD / 4));
    sn[y][x] = fetch(N, k, l, d + y, q0 + x);
    __syncthreads();

    for (int i = 0; i < BD / 4; i++) {
      quad n0 = sn[4 * i][x];
      quad n1 = sn[4 * i + 1][x];
      quad n2 = sn[4 * i + 2][x];
      quad n3 = sn[4 * i + 3][x];
#pragma unroll
      for (int r = 0; r < RT; r++) {
        quad m = sm[y + r * LANES_Y][i];
        axpy(sum[r], m.x, n0);
        axpy(sum[r], m.y, n1);
        axpy(sum[r], m.z, n2);
        axpy(sum[r], m.w, n3);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < RT; r++) put(P, j, l, top + y + r * LANES_Y, q0 + x, sum[r]);
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  dim3 grid((l + BW - 1) / BW, (j + BH - 1) / BH);
  quads<<<grid, NTHREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
