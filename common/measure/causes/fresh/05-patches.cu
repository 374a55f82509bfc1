#include <vector>

// All sizes of one way to tile, so that several can be compared.
template <int BM_, int BN_, int BK_, int TM_, int TN_>
struct Shape {
  enum { BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_, THREADS = BM / TM * (BN / TN) };
};

template <class S>
struct Patch {
  float v[S::TM][S::TN];

  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < S::TM * S::TN; ++i) v[i / S::TN][i % S::TN] = 0.0f;
  }

  __device__ void outer(const float (&a)[S::TM], const float (&b)[S::TN]) {
#pragma unroll
    for (int r = 0; r < S::TM; ++r)
#pragma unroll
      for (int c = 0; c < S::TN; ++c) v[r][c] = fmaf(a[r], b[c], v[r][c]);
  }
};

template <class S>
__global__ void patches(const float* A, const float* B, float* C, int rows, int depth, int cols) {
  __shared__ float as[S::BM][S::BK + 1];
  __shared__ float bs[S::BK][S::BN];
  const int id = threadIdx.x;
  const int wide = S::BN / S::TN;
  const int px = id % wide, py = id / wide;
  const int r0 = blockIdx.y * S::BM, c0 = blockIdx.x * S::BN;

  Patch<S> patch;
  patch.clear();
  for (int d0 = 0; d0 < depth; d0 += S::BK) {
#pragma unroll
    for (int e = id; e < S::BM * S::BK; e += S::THREADS) {
      const int r = e / S::BK, d = e % S::BK;
      const bool in = r0 + r < rows && d0 + d < depth;
      as[r][d] = in ? A[(r0 + r) * depth + d0 + d] : 0.0f;
    }
#pragma unroll
    for (int e = id; e < S::BK * S::BN; e += S::THREADS) {
      const int d = e / S::BN, c = e % S::BN;
      const bool in = d0 + d < depth && c0 + c < cols;
      bs[d][c] = in ? B[(d0 + d) * cols + c0 + c] : 0.0f;
    }
    __syncthreads();
    for (int d = 0; d < S::BK; ++d) {
      float a[S::TM], b[S::TN];
#pragma unroll
      for (int r = 0; r < S::TM; ++r) a[r] = as[py * S::TM + r][d];
#pragma unroll
      for (int c = 0; c < S::TN; ++c) b[c] = bs[d][px + c * wide];
      patch.outer(a, b);
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < S::TM; ++r) {
    const int row = r0 + py * S::TM + r;
    if (row >= rows) continue;
#pragma unroll
    for (int c = 0; c < S::TN; ++c) {
      const int col = c0 + px + c * wide;
      if (col < cols) C[row * cols + col] = patch.v[r][c];
    }
  }
}

using Launch = void (*)(const float*, const float*, float*, int, int, int);

struct Choice {
  int bm, bn, threads;
  Launch kernel;
};

template <class S>
Choice choice() {
  return {S::BM, S::BN, S::THREADS, patches<S>};
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  std::vector<Choice> choices;
  choices.push_back(choice<Shape<64, 64, 16, 4, 4>>());
  choices.push_back(choice<Shape<128, 64, 8, 8, 4>>());
  const Choice& best = choices.front();
  const dim3 grid((l + best.bn - 1) / best.bn, (j + best.bm - 1) / best.bm);
  best.kernel<<<grid, best.threads>>>(M, N, P, j, k, l);
}
