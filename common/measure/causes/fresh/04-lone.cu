// One row of blocks; each finds its own place in P. Multiplies with inline PTX.
struct Size {
  int j, k, l;
};

struct Corner {
  int row, col;
};

static const int W = 16;

__device__ __forceinline__ float madd(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}

__device__ Corner corner_of(int block, int l) {
  const int across = (l + W - 1) / W;
  Corner c;
  c.row = block / across * W;
  c.col = block % across * W;
  return c;
}

__global__ void lone_kernel(const float* __restrict__ M, const float* __restrict__ N, float* __restrict__ P, const Size s) {
  __shared__ float tiles[2 * W * W];
  float* const mt = tiles;
  float* const nt = &tiles[W * W];
  const int x = threadIdx.x, y = threadIdx.y;
  const Corner c = corner_of(blockIdx.x, s.l);
  const bool row_ok = c.row + y < s.j, col_ok = c.col + x < s.l;

  const float* m = M + (size_t)(c.row + y) * s.k + x;
  const float* n = N + (size_t)y * s.l + c.col + x;
  float acc = 0.0f;
  int left = s.k;
  while (left > 0) {
    mt[y * W + x] = row_ok && x < left ? *m : 0.0f;
    nt[y * W + x] = col_ok && y < left ? *n : 0.0f;
    m += W;
    n += W * s.l;
    __syncthreads();
    const float* u = mt + y * W;
    const float* v = nt + x;
#pragma unroll 4
    for (int i = 0; i < W; ++i, ++u, v += W) acc = madd(*u, *v, acc);
    __syncthreads();
    left -= W;
  }
  if (row_ok && col_ok) P[(size_t)(c.row + y) * s.l + c.col + x] = acc;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Size size = {j, k, l};
  const int down = (j + W - 1) / W, across = (l + W - 1) / W;
  lone_kernel<<<down * across, dim3(W, W)>>>(M, N, P, size);
}
