// lab 4: pointers walk through M and N, `left` says how much of k there is still to do
#include "check.h"

typedef long long i64;

constexpr int S = 16;

static int up(int a, int b) { return a / b + (a % b > 0); }

__global__ void rect(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float tileM[S * S], tileN[S * S];
  const int u = threadIdx.x, v = threadIdx.y;
  const int me = v * S + u;
  const int r = blockIdx.y * S + v, c = blockIdx.x * S + u;
  const bool rowOk = r < j;
  const bool colOk = c < l;

  const float* pm = M + (i64)r * k + u;
  const float* pn = N + (i64)v * l + c;
  const i64 down = (i64)S * l;  // one tile further down in N

  float p = 0;
  for (int left = k; left > 0; left -= S) {
    if (rowOk && u < left) {
      tileM[me] = *pm;
    } else {
      tileM[me] = 0;
    }
    if (colOk && v < left) {
      tileN[me] = *pn;
    } else {
      tileN[me] = 0;
    }
    __syncthreads();

    const float* a = tileM + v * S;
    const float* b = tileN + u;
    for (int n = 0; n < S; ++n, b += S) p += a[n] * *b;
    __syncthreads();

    pm += S;
    pn += down;
  }
  if (rowOk && colOk) P[(i64)r * l + c] = p;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  dim3 threads(S, S), blocks(up(l, S), up(j, S));
  rect<<<blocks, threads, 0, stream>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamDestroy(stream));
}
