// tensor cores with inline ptx, 4 warps of 64 x 64
// hyunwoo
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include "check.h"

#define BLK 128
#define KB 64
#define LDA (KB + 8)
#define LDB (BLK + 8)
#define NUM_THREADS 128

typedef __nv_bfloat16 bf;

__device__ __forceinline__ uint32_t smem_addr(const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void ldsm(uint32_t *d, const bf *p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(smem_addr(p))
               : "memory");
}

__device__ __forceinline__ void ldsm_t(uint32_t *d, const bf *p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(smem_addr(p))
               : "memory");
}

__device__ __forceinline__ void mma(float *c, const uint32_t *a, uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// nr x nc elements at (r0, c0) of an R x C matrix, rounded, into a tile with rows of ld
template <int nr, int nc, int ld>
__device__ void fill_tile(bf *tile, const float *src, int R, int C, int r0, int c0) {
  const bool wide = C % 4 == 0;
  for (int q = threadIdx.x; q < nr * nc / 4; q += NUM_THREADS) {
    int r = q / (nc / 4), c = q % (nc / 4) * 4;
    int gr = r0 + r, gc = c0 + c;
    float v[4] = {0, 0, 0, 0};
    if (gr < R) {
      const float *g = src + (size_t)gr * C + gc;
      if (wide) {
        if (gc < C) {
          float4 f = *(const float4 *)g;
          v[0] = f.x; v[1] = f.y; v[2] = f.z; v[3] = f.w;
        }
      } else {
        for (int e = 0; e < 4; e++)
          if (gc + e < C) v[e] = g[e];
      }
    }
    __nv_bfloat162 lo = __float22bfloat162_rn(make_float2(v[0], v[1]));
    __nv_bfloat162 hi = __float22bfloat162_rn(make_float2(v[2], v[3]));
    uint2 both;
    both.x = *(uint32_t *)&lo;
    both.y = *(uint32_t *)&hi;
    *(uint2 *)(tile + r * ld + c) = both;
  }
}

__global__ __launch_bounds__(NUM_THREADS) void tc(const float *A, const float *B, float *C, int j,
                                                  int k, int l) {
  __shared__ __align__(16) bf sa[BLK * LDA];
  __shared__ __align__(16) bf sb[KB * LDB];
  int wid = threadIdx.x / 32, lane = threadIdx.x % 32;
  int wm = wid / 2 * 64, wn = wid % 2 * 64;
  int bm = blockIdx.y * BLK, bn = blockIdx.x * BLK;
  // what this lane names for ldmatrix
  int lr = lane & 15, lc = (lane >> 4) << 3;

  float acc[4][8][4] = {};
  for (int k0 = 0; k0 < k; k0 += KB) {
    fill_tile<BLK, KB, LDA>(sa, A, j, k, bm, k0);
    fill_tile<KB, BLK, LDB>(sb, B, k, l, k0, bn);
    __syncthreads();
    for (int kk = 0; kk < KB; kk += 16) {
      uint32_t a[4][4];
      for (int mi = 0; mi < 4; mi++) ldsm(a[mi], sa + (wm + mi * 16 + lr) * LDA + kk + lc);
      for (int np = 0; np < 4; np++) {
        uint32_t b[4];
        ldsm_t(b, sb + (kk + lr) * LDB + wn + np * 16 + lc);
        for (int mi = 0; mi < 4; mi++) {
          mma(acc[mi][2 * np], a[mi], b[0], b[1]);
          mma(acc[mi][2 * np + 1], a[mi], b[2], b[3]);
        }
      }
    }
    __syncthreads();
  }

  int g = lane >> 2, t = lane & 3;
  for (int mi = 0; mi < 4; mi++) {
    for (int ni = 0; ni < 8; ni++) {
      int row = bm + wm + mi * 16 + g;
      int col = bn + wn + ni * 8 + t * 2;
      for (int h = 0; h < 4; h += 2, row += 8) {
        if (row >= j) continue;
        float *o = C + (size_t)row * l + col;
        if ((l & 1) == 0) {
          if (col < l) *(float2 *)o = make_float2(acc[mi][ni][h], acc[mi][ni][h + 1]);
        } else {
          if (col < l) o[0] = acc[mi][ni][h];
          if (col + 1 < l) o[1] = acc[mi][ni][h + 1];
        }
      }
    }
  }
}

void solve(const float *M, const float *N, float *P, int j, int k, int l) {
  dim3 g((l + BLK - 1) / BLK, (j + BLK - 1) / BLK);
  tc<<<g, NUM_THREADS>>>(M, N, P, j, k, l);
  CHECK(cudaGetLastError());
}
