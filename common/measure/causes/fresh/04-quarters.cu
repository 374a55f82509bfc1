// divide and conquer on the host: P is cut along its longer side until a part is small
#include <algorithm>

#include "check.h"

struct Part {
  int top, left, rows, columns;
};

struct Problem {
  const float* m;
  const float* n;
  float* p;
  int k, l;
};

__global__ void small(const float* m, const float* n, float* p, int rows, int k, int columns, int stride) {
  const int c = blockIdx.x * 16 + threadIdx.x;
  const int r = blockIdx.y * 16 + threadIdx.y;
  __shared__ float a[16][16], b[16][16];
  float sum = 0.0f;
  for (int at = 0; at < k; at += 16) {
    a[threadIdx.y][threadIdx.x] = r < rows && at + threadIdx.x < k ? m[(size_t)r * k + at + threadIdx.x] : 0.0f;
    b[threadIdx.y][threadIdx.x] = c < columns && at + threadIdx.y < k ? n[(size_t)(at + threadIdx.y) * stride + c] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  if (r < rows && c < columns) p[(size_t)r * stride + c] = sum;
}

static int limit = 64;

static void conquer(const Problem& of, const Part& part) {
  if (part.rows <= limit && part.columns <= limit) {
    const dim3 grid((part.columns + 15) / 16, (part.rows + 15) / 16);
    small<<<grid, dim3(16, 16)>>>(of.m + size_t(part.top) * of.k,
                                  of.n + part.left,
                                  of.p + size_t(part.top) * of.l + part.left,
                                  part.rows, of.k, part.columns, of.l);
    CHECK(cudaGetLastError());
    return;
  }
  Part first = part, second = part;
  if (part.rows >= part.columns) {
    first.rows = part.rows / 2;
    second.rows = part.rows - first.rows;
    second.top = part.top + first.rows;
  } else {
    first.columns = part.columns / 2;
    second.columns = part.columns - first.columns;
    second.left = part.left + first.columns;
  }
  conquer(of, first);
  conquer(of, second);
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  limit = std::max(64, std::max(j, l) / 8);
  conquer({M, N, P, k, l}, {0, 0, j, l});
}
