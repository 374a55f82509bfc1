// Tensor cores by hand: own PTX, four warps of 64 x 64.
#include "check.h"
#include <cuda_bf16.h>
#include <cstdint>

typedef __nv_bfloat16 half_t;

#define BLK 128
#define KK 64
#define LDA (KK + 8)
#define LDB (BLK + 8)

static __device__ unsigned smem_u32(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void ldsm4(uint32_t r[4], const half_t *p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_u32(p))
               : "memory");
}

static __device__ void ldsm4t(uint32_t r[4], const half_t *p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_u32(p))
               : "memory");
}

static __device__ void mma(float d[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* rounds a piece of h x w elements of src, which begins at (r0, c0), into dst */
template <int H, int Wd, int LD>
__device__ void fill(half_t *dst, const float *src, int h, int w, int r0, int c0) {
  const bool fast = (w & 1) == 0;
  for (int e = 2 * threadIdx.x; e < H * Wd; e += 2 * blockDim.x) {
    int r = e / Wd, c = e % Wd;
    float2 f = {0.0f, 0.0f};
    const float *s = src + (size_t)(r0 + r) * w + c0 + c;
    if (r0 + r < h) {
      if (fast) {
        if (c0 + c < w) f = *(const float2 *)s;
      } else {
        if (c0 + c < w) f.x = s[0];
        if (c0 + c + 1 < w) f.y = s[1];
      }
    }
    *(__nv_bfloat162 *)(dst + r * LD + c) = __float22bfloat162_rn(f);
  }
}

__global__ void __launch_bounds__(128) tc(const float *M, const float *N, float *P, int j, int k,
                                          int l) {
  __shared__ __align__(16) half_t a[BLK * LDA];
  __shared__ __align__(16) half_t b[KK * LDB];
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  int wr = (wid >> 1) * 64, wc = (wid & 1) * 64;
  int r0 = blockIdx.y * BLK, c0 = blockIdx.x * BLK;
  float acc[4][8][4] = {{{0.0f}}};

  for (int k0 = 0; k0 < k; k0 += KK) {
    fill<BLK, KK, LDA>(a, M, j, k, r0, k0);
    fill<KK, BLK, LDB>(b, N, k, l, k0, c0);
    __syncthreads();
    for (int q = 0; q < KK; q += 16) {
      uint32_t fa[4][4];
      for (int y = 0; y < 4; y++)
        ldsm4(fa[y], a + (wr + y * 16 + (lane & 15)) * LDA + q + (lane >> 4) * 8);
      for (int x = 0; x < 4; x++) {
        uint32_t fb[4];
        ldsm4t(fb, b + (q + (lane & 15)) * LDB + wc + x * 16 + (lane >> 4) * 8);
        for (int y = 0; y < 4; y++) {
          mma(acc[y][2 * x], fa[y], fb[0], fb[1]);
          mma(acc[y][2 * x + 1], fa[y], fb[2], fb[3]);
        }
      }
    }
    __syncthreads();
  }

  int row = r0 + wr + (lane >> 2), col = c0 + wc + (lane & 3) * 2;
#pragma unroll
  for (int y = 0; y < 8; y++) {  /* eight rows further on with each y */
    int rr = row + y * 8;
    if (rr >= j) continue;
    float *out = P + (size_t)rr * l;
#pragma unroll
    for (int x = 0; x < 8; x++) {
      int cc = col + x * 8;
      float lo = acc[y / 2][x][y % 2 * 2], hi = acc[y / 2][x][y % 2 * 2 + 1];
      if (cc + 1 < l && l % 2 == 0) {
        *(float2 *)(out + cc) = make_float2(lo, hi);
      } else {
        if (cc < l) out[cc] = lo;
        if (cc + 1 < l) out[cc + 1] = hi;
      }
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  int gx = (l - 1) / BLK + 1, gy = (j - 1) / BLK + 1;
  dim3 g(gx, gy), t(128);
  tc<<<g, t>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
