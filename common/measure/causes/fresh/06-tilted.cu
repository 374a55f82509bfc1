// The tile of M is stored transposed; what would meet in one bank is turned by the column.
#define TILE 64
#define DEPTH 16
#define NTHREADS 256

__device__ constexpr int tilt(int k, int r) {
  return r ^ (k << 1 & 30);
}

#define MS(k, r) ms[(k) * TILE + tilt(k, r)]
#define NS(k, c) ns[(k) * TILE + (c)]

__global__ __launch_bounds__(NTHREADS) void tilted(const float* m, const float* n, float* p, int J, int K, int L) {
  __shared__ float ms[DEPTH * TILE];
  __shared__ float ns[DEPTH * TILE];
  const int t = threadIdx.x;
  const int rowBase = blockIdx.y * TILE, colBase = blockIdx.x * TILE;
  const int tr = t >> 4, tc = t & 15;

  float acc[4][4];
  for (auto& line : acc)
    for (float& a : line) a = 0.f;

  for (int kBase = 0; kBase < K; kBase += DEPTH) {
    for (int q = 0; q < TILE * DEPTH / NTHREADS; ++q) {
      const int k = t % DEPTH, r = t / DEPTH + q * (NTHREADS / DEPTH);
      const int row = rowBase + r, col = kBase + k;
      MS(k, r) = (row < J && col < K) ? m[row * K + col] : 0.f;
    }
    for (int q = 0; q < TILE * DEPTH / NTHREADS; ++q) {
      const int c = t % TILE, k = t / TILE + q * (NTHREADS / TILE);
      const int row = kBase + k, col = colBase + c;
      NS(k, c) = (row < K && col < L) ? n[row * L + col] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < DEPTH; ++k) {
      float a[4], b[4];
      for (int i = 0; i < 4; ++i) a[i] = MS(k, 16 * i + tr), b[i] = NS(k, 16 * i + tc);
      for (int i = 0; i < 16; ++i) acc[i >> 2][i & 3] += a[i >> 2] * b[i & 3];
    }
    __syncthreads();
  }

  for (int i = 0; i < 16; ++i) {
    const int row = rowBase + 16 * (i >> 2) + tr, col = colBase + 16 * (i & 3) + tc;
    if (row < J && col < L) p[row * L + col] = acc[i >> 2][i & 3];
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + TILE - 1) / TILE, (j + TILE - 1) / TILE);
  tilted<<<grid, NTHREADS>>>(M, N, P, j, k, l);
}
