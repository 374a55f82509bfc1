// Lab 08 with three buffers in a ring and NVIDIA's own primitives.
#include "check.h"
#include <cuda_pipeline.h>

#define NBUF 3
#define DIM 64
#define DEP 16
#define NTHR 256

struct Buffers {
  float4 m[NBUF][DIM][DEP / 4];
  float4 n[NBUF][DEP][DIM / 4];
};

// one float4 of a matrix (h rows, w columns) to shared memory
__device__ void enqueue(float4* dst, const float* src, int h, int w, int r, int c) {
  const int in_row = r < h ? w - c : 0;  // how many elements of this row are left from c on
  if (w % 4 == 0) {
    if (in_row > 0)
      __pipeline_memcpy_async(dst, src + (size_t)r * w + c, 16);
    else
      __pipeline_memcpy_async(dst, src, 16, 16);  // 16 bytes of zeros
    return;
  }
  float* d = reinterpret_cast<float*>(dst);
  for (int i = 0; i < 4; i++) {
    if (i < in_row)
      __pipeline_memcpy_async(d + i, src + (size_t)r * w + c + i, 4);
    else
      __pipeline_memcpy_async(d + i, src, 4, 4);
  }
}

__global__ void ring_kernel(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ Buffers buf;
  const int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  const int row0 = DIM * blockIdx.y, col0 = DIM * blockIdx.x;
  const int n_steps = (k + DEP - 1) / DEP;

  int write = 0, read = 0, issued = 0;
  auto issue = [&]() {
    if (issued < n_steps) {
      enqueue(&buf.m[write][t >> 2][t & 3], M, j, k, row0 + (t >> 2), issued * DEP + (t & 3) * 4);
      enqueue(&buf.n[write][t >> 4][t & 15], N, k, l, issued * DEP + (t >> 4), col0 + (t & 15) * 4);
    }
    __pipeline_commit();  // an empty group at the end keeps the count right
    issued++;
    write = write == NBUF - 1 ? 0 : write + 1;
  };

  float4 out[4];
  for (int r = 0; r < 4; r++) out[r] = make_float4(0, 0, 0, 0);

  issue();
  issue();
  for (int step = 0; step < n_steps; step++) {
    __pipeline_wait_prior(NBUF - 2);
    __syncthreads();
    issue();
    for (int i = 0; i < DEP / 4; i++) {
      float4 b[4];
      for (int s = 0; s < 4; s++) b[s] = buf.n[read][4 * i + s][tx];
      for (int r = 0; r < 4; r++) {
        const float4 a = buf.m[read][ty + 16 * r][i];
        const float av[4] = {a.x, a.y, a.z, a.w};
        for (int s = 0; s < 4; s++) {
          out[r].x += av[s] * b[s].x;
          out[r].y += av[s] * b[s].y;
          out[r].z += av[s] * b[s].z;
          out[r].w += av[s] * b[s].w;
        }
      }
    }
    read = (read + 1) % NBUF;
  }

  for (int r = 0; r < 4; r++) {
    const int row = row0 + ty + 16 * r, col = col0 + 4 * tx;
    if (row >= j) continue;
    float* p = P + (size_t)row * l + col;
    const float o[4] = {out[r].x, out[r].y, out[r].z, out[r].w};
    if ((l & 3) == 0) {
      if (col < l) *reinterpret_cast<float4*>(p) = out[r];
    } else {
      for (int c = 0; c < 4 && col + c < l; c++) p[c] = o[c];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  ring_kernel<<<dim3((l + DIM - 1) / DIM, (j + DIM - 1) / DIM), NTHR>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
