#define HIGH 64
#define WIDE 64
#define DEEP 16
#define QUADS (WIDE / 4)

static __device__ float4 zero4() {
  return float4{0, 0, 0, 0};
}

static __device__ __forceinline__ float4 take(const float* __restrict__ p, int left) {
  float4 value = zero4();
  if (left <= 0) return value;
  if (left >= 4 && ((size_t)p & 15) == 0) {
    asm("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
        : "l"(p));
    return value;
  }
  value.x = p[0];
  if (left > 1) value.y = p[1];
  if (left > 2) value.z = p[2];
  if (left > 3) value.w = p[3];
  return value;
}

static __device__ void add(float4& s, float a, const float4& b) {
  s.x += a * b.x, s.y += a * b.y, s.z += a * b.z, s.w += a * b.w;
}

__global__ void lines(const float* M, const float* N, float* P, int j, int k, int l) {
  __shared__ float4 m_tile[HIGH * DEEP / 4], n_tile[DEEP * QUADS];
  const unsigned t = threadIdx.x;
  const int top = blockIdx.y * HIGH, left = blockIdx.x * WIDE;
  const int across = t % QUADS, down = t / QUADS;
  float4 sums[4] = {zero4(), zero4(), zero4(), zero4()};

  for (int z = 0; z < k; z += DEEP) {
    {
      const int line = t / 4, q = t % 4;
      const int rest = top + line < j ? k - z - 4 * q : 0;
      m_tile[line * 4 + q] = take(M + (size_t)(top + line) * k + z + 4 * q, rest);
    }
    {
      const int line = t / QUADS, q = t % QUADS;
      const int rest = z + line < k ? l - left - 4 * q : 0;
      n_tile[line * QUADS + q] = take(N + (size_t)(z + line) * l + left + 4 * q, rest);
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < DEEP / 4; ++q) {
      const float4 n0 = n_tile[(4 * q + 0) * QUADS + across];
      const float4 n1 = n_tile[(4 * q + 1) * QUADS + across];
      const float4 n2 = n_tile[(4 * q + 2) * QUADS + across];
      const float4 n3 = n_tile[(4 * q + 3) * QUADS + across];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float4 a = m_tile[(down + 16 * r) * 4 + q];
        add(sums[r], a.x, n0);
        add(sums[r], a.y, n1);
        add(sums[r], a.z, n2);
        add(sums[r], a.w, n3);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int row = top + down + 16 * r, col = left + 4 * across;
    if (row >= j || col >= l) continue;
    float* to = P + (size_t)row * l + col;
    if (l % 4 == 0) {
      *(float4*)to = sums[r];
    } else {
      const float all[] = {sums[r].x, sums[r].y, sums[r].z, sums[r].w};
      for (int i = 0; i < 4 && col + i < l; ++i) to[i] = all[i];
    }
  }
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 grid((l + WIDE - 1) / WIDE, (j + HIGH - 1) / HIGH, 1);
  lines<<<grid, 256>>>(M, N, P, j, k, l);
}
