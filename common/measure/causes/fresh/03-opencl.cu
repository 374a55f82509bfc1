/* Lab 03, ported from my OpenCL kernel. */
#include <stdio.h>
#include <stdlib.h>

#define get_local_id(d) ((d) == 0 ? (int)threadIdx.x : (int)threadIdx.y)
#define get_group_id(d) ((d) == 0 ? (int)blockIdx.x : (int)blockIdx.y)
#define barrier_local() __syncthreads()
#define WG 16

typedef float local_tile[WG][WG];

/* work item (lx, ly) fetches element (r0 + ly, c0 + lx) */
__device__ void fetch(local_tile dst, const float *src, int r0, int c0, int n) {
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int r = r0 + ly, c = c0 + lx;
  float v = 0.0f;
  if (r < n) {
    if (c < n) v = src[r * n + c];
  }
  dst[ly][lx] = v;
}

__device__ float inner(local_tile a, local_tile b, int ly, int lx, float start) {
  float s = start;
  for (int e = 0; e < WG; e++) s += a[ly][e] * b[e][lx];
  return s;
}

__global__ void gemm_cl(const float *a, const float *b, float *c, int n) {
  __shared__ local_tile la, lb;
  const int row0 = get_group_id(1) * WG;
  const int col0 = get_group_id(0) * WG;

  float s = 0.0f;
  int off = 0;
  while (off < n) {
    fetch(la, a, row0, off, n);
    fetch(lb, b, off, col0, n);
    barrier_local();
    s = inner(la, lb, get_local_id(1), get_local_id(0), s);
    barrier_local();
    off += WG;
  }

  const int r = row0 + get_local_id(1), q = col0 + get_local_id(0);
  if (r >= n || q >= n) return;
  c[r * n + q] = s;
}

static size_t round_up(size_t x, size_t m) { return (x + m - 1) / m * m; }

void solve(const float *M, const float *N, float *P, int width) {
  size_t global[2] = {round_up(width, WG), round_up(width, WG)};
  size_t local[2] = {WG, WG};
  dim3 groups(global[0] / local[0], global[1] / local[1]);
  dim3 items(local[0], local[1]);
  gemm_cl<<<groups, items>>>(M, N, P, width);
  cudaError_t err = cudaGetLastError();
  if (err != cudaSuccess) {
    fprintf(stderr, "enqueueNDRange: %s\n", cudaGetErrorName(err));
    abort();
  }
}
