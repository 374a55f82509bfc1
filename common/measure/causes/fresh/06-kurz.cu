// Lab 06, Kurz: phases of 8 only. A warp then stores 8 columns x 4 rows of M: rows of 68 words fit.
#include "check.h"

template <int Rows, int Cols, int Pad>
struct Tile {
  float word[Rows * (Cols + Pad)];
  static constexpr int stride = Cols + Pad;
  __device__ float& operator()(int r, int c) { return word[r * stride + c]; }
};

static constexpr int S = 64, D = 8, T = 4;

struct Args {
  const float *M, *N;
  float* P;
  int j, k, l;
};

__global__ void kurz(Args g) {
  __shared__ Tile<D, S, 4> m;
  __shared__ Tile<D, S, 0> n;
  int id = threadIdx.y * 16 + threadIdx.x;
  int R = blockIdx.y * S, C = blockIdx.x * S;

  // my elements: two of M (32 rows apart), two of N (4 rows apart)
  int mi = id & 7, mr = id >> 3;
  int nc = id & 63, ni = id >> 6;

  float s[T][T] = {{0}};
  int phases = (g.k + D - 1) / D;
  for (int ph = 0; ph < phases; ph++) {
    for (int h = 0; h < 2; h++) {
      int row = R + mr + 32 * h, col = ph * D + mi;
      bool in = row < g.j && col < g.k;
      m(mi, mr + 32 * h) = in ? g.M[(size_t)row * g.k + col] : 0.f;
    }
    for (int h = 0; h < 2; h++) {
      int row = ph * D + ni + 4 * h, col = C + nc;
      bool in = row < g.k && col < g.l;
      n(ni + 4 * h, nc) = in ? g.N[(size_t)row * g.l + col] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < D; i++)
#pragma unroll
      for (int a = 0; a < T; a++)
#pragma unroll
        for (int b = 0; b < T; b++) s[a][b] += m(i, threadIdx.y * T + a) * n(i, threadIdx.x + 16 * b);
    __syncthreads();
  }

  for (int ab = 0; ab < T * T; ab++) {
    int row = R + threadIdx.y * T + ab / T;
    int col = C + threadIdx.x + 16 * (ab % T);
    if (row < g.j && col < g.l) g.P[(size_t)row * g.l + col] = s[ab / T][ab % T];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  Args args = {M, N, P, j, k, l};
  unsigned across = (l + S - 1) / S, down = (j + S - 1) / S;
  kurz<<<dim3(across, down), dim3(16, S / T)>>>(args);
  CHECK(cudaGetLastError());
}
