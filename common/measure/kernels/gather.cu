// Loads from places that only the data know: a permutation computed from the index.
__global__ void gather(const float* M, const float* N, float* P, int n) {
  unsigned i = blockIdx.x * 128 + threadIdx.x, count = n * n;
  if (i >= count) return;
  unsigned from = (i * 2654435761u >> 7) % count, to = (i ^ 21) < count ? i ^ 21 : i;
  P[to] = M[from] - N[(from + 3 * i) % count];
}

void solve(const float* M, const float* N, float* P, int n) {
  gather<<<(n * n + 127) / 128, 128>>>(M, N, P, n);
}
