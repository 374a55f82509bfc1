// Lab 06: a warp fetches patches of 4 rows x 8 columns of M, and a row of the turned tile is
// 68 words long: 8 columns x 4 words apart, 4 neighbours each, 32 banks.
#include "check.h"

#define H 64
#define D 16
#define PITCH (H + 4)

typedef struct {
  const float* base;
  int rows, cols;
} mat;

__device__ static float pick(mat a, int r, int c) {
  return (r < a.rows) & (c < a.cols) ? a.base[(size_t)r * a.cols + c] : 0.f;
}

__global__ void patches(mat m, mat n, float* p) {
  __shared__ float turned[D * PITCH];
  __shared__ float plain[D * H];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
  const int r0 = blockIdx.y * H, c0 = blockIdx.x * H;
  float4 s[4];
  for (int r = 0; r < 4; r++) s[r] = make_float4(0.f, 0.f, 0.f, 0.f);

  for (int k0 = 0; k0 < m.cols; k0 += D) {
    /* 16 x 2 patches; warp w takes w, w + 8, w + 16, w + 24 */
    for (int patch = warp; patch < 32; patch += 8) {
      const int r = (patch >> 1) * 4 + (lane >> 3);
      const int i = (patch & 1) * 8 + (lane & 7);
      turned[i * PITCH + r] = pick(m, r0 + r, k0 + i);
    }
    /* 16 rows of two halves */
    for (int half = warp; half < 32; half += 8) {
      const int i = half >> 1;
      const int c = (half & 1) * 32 + lane;
      plain[i * H + c] = pick(n, k0 + i, c0 + c);
    }
    __syncthreads();

    const float* a = turned + 4 * ty;
    const float* b = plain + tx;
    for (int i = 0; i < D; i++, a += PITCH, b += H) {
      const float4 v = make_float4(b[0], b[16], b[32], b[48]);
      for (int r = 0; r < 4; r++) {
        s[r].x += a[r] * v.x;
        s[r].y += a[r] * v.y;
        s[r].z += a[r] * v.z;
        s[r].w += a[r] * v.w;
      }
    }
    __syncthreads();
  }

  for (int r = 0; r < 4; r++) {
    const int row = r0 + 4 * ty + r, col = c0 + tx;
    if (row >= m.rows) return;
    float* line = p + (size_t)row * n.cols;
    if (col < n.cols) line[col] = s[r].x;
    if (col + 16 < n.cols) line[col + 16] = s[r].y;
    if (col + 32 < n.cols) line[col + 32] = s[r].z;
    if (col + 48 < n.cols) line[col + 48] = s[r].w;
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  mat m = {M, j, k}, n = {N, k, l};
  dim3 grid;
  grid.x = (l + H - 1) / H;
  grid.y = (j + H - 1) / H;
  patches<<<grid, 256>>>(m, n, P);
  CHECK(cudaGetLastError());
}
