// Lab 07, tiles declared as float4 from the beginning: no reinterpret_cast in shared memory.
#include "check.h"

constexpr int SIDE = 64;        // of a block's square of P
constexpr int QUADS = SIDE / 4;  // 16 float4 in a row of P's square
constexpr int STEPS = 16;       // of k per phase
constexpr int SQ = STEPS / 4;   // 4 float4 in a row of M's tile

struct Source {
  const float* data;
  int rows, cols;

  __device__ float4 quad(int row, int q) const {  // columns 4 q to 4 q + 3
    float4 v = make_float4(0, 0, 0, 0);
    if (row >= rows) return v;
    const float* line = data + size_t(row) * cols;
    int left = cols - 4 * q;  // how many are left in this row
    if (cols % 4 == 0) {
      if (left > 0) v = reinterpret_cast<const float4*>(line)[q];
      return v;
    }
    switch (left) {
      default: if (left < 1) break;
               v.w = line[4 * q + 3];  // four or more
      case 3: v.z = line[4 * q + 2];
      case 2: v.y = line[4 * q + 1];
      case 1: v.x = line[4 * q];
    }
    return v;
  }
};

__device__ void axpy(float4& y, float a, float4 x) {
  y.x += a * x.x;
  y.y += a * x.y;
  y.z += a * x.z;
  y.w += a * x.w;
}

__global__ void quad_kernel(Source m, Source n, float* P) {
  __shared__ float4 mt[SIDE][SQ];
  __shared__ float4 nt[STEPS][QUADS];
  int t = threadIdx.x, tq = t % QUADS, tr = t / QUADS;
  int top = blockIdx.y * SIDE, left_quad = blockIdx.x * QUADS;

  float4 acc[4];
  for (auto& a : acc) a = make_float4(0, 0, 0, 0);

  for (int phase = 0; phase * STEPS < m.cols; ++phase) {
    mt[t / SQ][t % SQ] = m.quad(top + t / SQ, phase * SQ + t % SQ);
    nt[tr][tq] = n.quad(phase * STEPS + tr, left_quad + tq);
    __syncthreads();

    for (int q = 0; q < SQ; ++q) {
      float4 b0 = nt[4 * q][tq], b1 = nt[4 * q + 1][tq];
      float4 b2 = nt[4 * q + 2][tq], b3 = nt[4 * q + 3][tq];
      for (int i = 0; i < 4; ++i) {
        float4 a = mt[tr + 16 * i][q];
        axpy(acc[i], a.x, b0);
        axpy(acc[i], a.y, b1);
        axpy(acc[i], a.z, b2);
        axpy(acc[i], a.w, b3);
      }
    }
    __syncthreads();
  }

  int col = 4 * (left_quad + tq);
  for (int i = 0; i < 4; ++i) {
    int row = top + tr + 16 * i;
    if (row >= m.rows || col >= n.cols) continue;
    float* to = P + size_t(row) * n.cols + col;
    if (n.cols % 4 == 0) {
      *reinterpret_cast<float4*>(to) = acc[i];
    } else {
      to[0] = acc[i].x;
      if (col + 1 < n.cols) to[1] = acc[i].y;
      if (col + 2 < n.cols) to[2] = acc[i].z;
      if (col + 3 < n.cols) to[3] = acc[i].w;
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + SIDE - 1) / SIDE, (j + SIDE - 1) / SIDE);
  quad_kernel<<<grid, 256>>>(Source{M, j, k}, Source{N, k, l}, P);
  CHECK(cudaGetLastError());
}
