// Lab 05, everything derived from one configuration type.
#include "check.h"

template <int Rows, int Cols, int Deep, int PatchR, int PatchC>
struct Config {
  static constexpr int rows = Rows, cols = Cols, deep = Deep;
  static constexpr int patch_r = PatchR, patch_c = PatchC;
  static constexpr int nx = Cols / PatchC;  // threads along x
  static constexpr int ny = Rows / PatchR;  // threads along y
  static constexpr int threads = nx * ny;
};
using Cfg = Config<64, 64, 16, 4, 4>;

struct Mat {
  const float* p;
  int h, w;
  __device__ float operator()(int r, int c) const {
    return r < h && c < w ? p[size_t(r) * w + c] : 0.0f;
  }
};

template <class C>
struct Patch {
  float v[C::patch_r][C::patch_c];

  __device__ void clear() {
    for (auto& line : v)
      for (auto& x : line) x = 0.0f;
  }
  __device__ void outer(const float (&col)[C::patch_r], const float (&row)[C::patch_c]) {
    for (int a = 0; a < C::patch_r; ++a)
      for (int b = 0; b < C::patch_c; ++b) v[a][b] = fmaf(col[a], row[b], v[a][b]);
  }
};

template <class C>
__global__ void patches(Mat M, Mat N, float* P) {
  __shared__ float tm[C::deep][C::rows];
  __shared__ float tn[C::deep][C::cols];
  const int x = threadIdx.x, y = threadIdx.y;
  const int id = x + y * C::nx;
  const int top = blockIdx.y * C::rows, left = blockIdx.x * C::cols;

  Patch<C> patch;
  patch.clear();

  int done = 0;
  while (done < M.w) {
    const int mc = id % C::deep;
    for (int mr = id / C::deep; mr < C::rows; mr += C::threads / C::deep)
      tm[mc][mr] = M(top + mr, done + mc);
    const int nc = id % C::cols;
    for (int nr = id / C::cols; nr < C::deep; nr += C::threads / C::cols)
      tn[nr][nc] = N(done + nr, left + nc);
    __syncthreads();

    for (int d = 0; d < C::deep; ++d) {
      float col[C::patch_r], row[C::patch_c];
      for (int a = 0; a < C::patch_r; ++a) col[a] = tm[d][y * C::patch_r + a];
      for (int b = 0; b < C::patch_c; ++b) row[b] = tn[d][x + b * C::nx];
      patch.outer(col, row);
    }
    __syncthreads();
    done += C::deep;
  }

  for (int a = 0; a < C::patch_r; ++a) {
    for (int b = 0; b < C::patch_c; ++b) {
      const int r = top + y * C::patch_r + a;
      const int c = left + x + b * C::nx;
      if (r < M.h && c < N.w) P[size_t(r) * N.w + c] = patch.v[a][b];
    }
  }
}

template <class C>
void launch(const Mat& M, const Mat& N, float* P) {
  auto cover = [](int n, int piece) { return n / piece + (n % piece != 0); };
  dim3 block(C::nx, C::ny);
  dim3 grid(cover(N.w, C::cols), cover(M.h, C::rows));
  patches<C><<<grid, block>>>(M, N, P);
  CHECK(cudaGetLastError());
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  launch<Cfg>(Mat{M, j, k}, Mat{N, k, l}, P);
}
