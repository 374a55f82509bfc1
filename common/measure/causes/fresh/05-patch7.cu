// Lab 05, with a Patch type and a generic tile loader. 128 threads, 8 x 4 results each.
#include "check.h"

constexpr int H = 64, W = 64, D = 16;  // block of P, and depth
constexpr int PH = 8, PW = 4;          // patch of a thread
constexpr int NX = W / PW, NY = H / PH, ALL = NX * NY;

struct Mat {
  const float* p;
  int rows, cols;
  __device__ float operator()(int r, int c) const {
    return (r < rows && c < cols) ? p[size_t(r) * cols + c] : 0.0f;
  }
};

struct Patch {
  float v[PH][PW];
  __device__ void clear() {
    for (int a = 0; a < PH; ++a)
      for (int b = 0; b < PW; ++b) v[a][b] = 0.0f;
  }
  __device__ void outer(const float (&col)[PH], const float (&row)[PW]) {
    for (int a = 0; a < PH; ++a)
      for (int b = 0; b < PW; ++b) v[a][b] += col[a] * row[b];
  }
};

template <int ROWS, int COLS, typename Put>
__device__ void each(int me, Put put) {
  for (int e = me; e < ROWS * COLS; e += ALL) put(e / COLS, e % COLS);
}

__global__ void patches(Mat m, Mat n, float* out) {
  __shared__ float ms[D][H];
  __shared__ float ns[D][W];
  const int bx = threadIdx.x, by = threadIdx.y, me = by * NX + bx;
  const int top = blockIdx.y * H, left = blockIdx.x * W;

  Patch patch;
  patch.clear();
  for (int z = 0; z < m.cols; z += D) {
    each<H, D>(me, [&](int r, int c) { ms[c][r] = m(top + r, z + c); });
    each<D, W>(me, [&](int r, int c) { ns[r][c] = n(z + r, left + c); });
    __syncthreads();
    for (int d = 0; d < D; ++d) {
      float col[PH], row[PW];
      for (int a = 0; a < PH; ++a) col[a] = ms[d][by * PH + a];
      for (int b = 0; b < PW; ++b) row[b] = ns[d][b * NX + bx];
      patch.outer(col, row);
    }
    __syncthreads();
  }

  for (int a = 0; a < PH; ++a) {
    int r = top + by * PH + a;
    float* line = out + size_t(r) * n.cols;
    for (int b = 0; b < PW; ++b) {
      int c = left + b * NX + bx;
      if (r < m.rows && c < n.cols) line[c] = patch.v[a][b];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Mat m{M, j, k}, n{N, k, l};
  dim3 grid((l + W - 1) / W, (j + H - 1) / H);
  patches<<<grid, dim3(NX, NY)>>>(m, n, P);
  CHECK(cudaGetLastError());
}
