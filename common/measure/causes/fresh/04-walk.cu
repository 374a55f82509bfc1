// rectangular product; two pointers walk, a counter says how much of k is left
#include <cstdio>
#include <cstdlib>

#define B 16

static void die_if(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  abort();
}

static unsigned up(int whole) {
  unsigned full = whole / B;
  return full * B == (unsigned)whole ? full : full + 1;
}

__global__ void rect(const float* __restrict__ m, const float* __restrict__ n,
                     float* __restrict__ p, const int J, const int K, const int L) {
  __shared__ float mt[B][B];
  __shared__ float nt[B][B];
  const int u = threadIdx.x, v = threadIdx.y;
  const long long i = (long long)blockIdx.y * B + v;
  const long long h = (long long)blockIdx.x * B + u;
  const bool rowOk = i < J, colOk = h < L;

  const float* mp = m + i * K + u;
  const float* np = n + (long long)v * L + h;
  float s = 0;
  for (int left = K; left > 0; left -= B) {
    float fm = 0, fn = 0;
    if (rowOk && u < left) fm = *mp;
    if (colOk && v < left) fn = *np;
    mt[v][u] = fm;
    nt[v][u] = fn;
    mp += B;
    np += (long long)B * L;
    __syncthreads();
    for (int z = B - 1; z >= 0; z--) s += mt[v][z] * nt[z][u];
    __syncthreads();
  }
  if (!rowOk || !colOk) return;
  p[i * L + h] = s;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 threads(B, B), grid;
  grid.x = up(l);
  grid.y = up(j);
  rect<<<grid, threads>>>(M, N, P, j, k, l);
  die_if(cudaGetLastError(), "launch");
  die_if(cudaDeviceSynchronize(), "kernel");
}
