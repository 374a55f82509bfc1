// Lab 03. I think in Julia, so indices start at 1 and memory is reached through getindex/setindex.
#include "check.h"

template <class T>
struct View {
  T* p;
  int n;  // square
  __device__ bool inbounds(int i, int j) const { return i <= n && j <= n; }
  __device__ T& operator()(int i, int j) const { return p[(i - 1) * n + (j - 1)]; }
};

__device__ float get_or_zero(View<const float> A, int i, int j) {
  if (A.inbounds(i, j)) return A(i, j);
  return 0.0f;
}

constexpr int NB = 16;

__host__ __device__ constexpr int cld(int a, int b) { return (a - 1) / b + 1; }

__global__ void mul_kernel(View<const float> A, View<const float> B, View<float> C) {
  __shared__ float Ablk[NB + 1][NB];  // row 0 is not used
  __shared__ float Bblk[NB + 1][NB];

  const int li = threadIdx.y + 1;  // 1:NB
  const int lj = threadIdx.x + 1;
  const int i = blockIdx.y * NB + li;
  const int j = blockIdx.x * NB + lj;

  float acc = 0.0f;
  const int nblk = cld(A.n, NB);
  for (int blk = 1; blk <= nblk; ++blk) {
    const int first = (blk - 1) * NB;
    Ablk[li][lj - 1] = get_or_zero(A, i, first + lj);
    Bblk[li][lj - 1] = get_or_zero(B, first + li, j);
    __syncthreads();
    for (int q = 1; q <= NB; ++q) {
      acc += Ablk[li][q - 1] * Bblk[q][lj - 1];
    }
    __syncthreads();
  }

  if (C.inbounds(i, j)) C(i, j) = acc;
}

void solve(const float* M, const float* N, float* P, int width) {
  View<const float> A{M, width}, B{N, width};
  View<float> C{P, width};
  const int blocks = cld(width, NB);
  mul_kernel<<<dim3(blocks, blocks), dim3(NB, NB)>>>(A, B, C);
  CHECK(cudaGetLastError());
}
