// Lab 04. Time steps along k: the next slab is read into registers while the current one is used.
#include "check.h"

#define NX 16
#define NY 16
#define NK 16

#define INSIDE(r, c, nr, nc) ((r) < (nr) && (c) < (nc))

__global__ void slab_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                            int nrow, int nmid, int ncol) {
  extern __shared__ float slab[];
  float* const sa = slab;
  float* const sb = slab + NY * NK;

  const int ix = threadIdx.x, iy = threadIdx.y;
  const int gx = blockIdx.x * NX + ix;
  const int gy = blockIdx.y * NY + iy;
  const int cell = iy * NK + ix;

  const size_t lda = nmid, ldb = ncol;
  const float* pa = A + gy * lda + ix;
  const float* pb = B + iy * ldb + gx;

  float next_a = INSIDE(gy, ix, nrow, nmid) ? *pa : 0.0f;
  float next_b = INSIDE(iy, gx, nmid, ncol) ? *pb : 0.0f;
  float energy = 0.0f;

  int t = 0;
  do {
    sa[cell] = next_a;
    sb[cell] = next_b;
    __syncthreads();

    t += NK;
    pa += NK;
    pb += NK * ldb;
    next_a = INSIDE(gy, t + ix, nrow, nmid) ? *pa : 0.0f;
    next_b = INSIDE(t + iy, gx, nmid, ncol) ? *pb : 0.0f;

    for (int q = 0; q < NK; q++) energy += sa[iy * NK + q] * sb[q * NX + ix];
    __syncthreads();
  } while (t < nmid);

  if (INSIDE(gy, gx, nrow, ncol)) C[gy * ldb + gx] = energy;
}

static int cover(int n, int step) {
  int k = 0;
  for (long done = 0; done < n; done += step) k++;
  return k;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  dim3 threads(NX, NY), blocks(cover(l, NX), cover(j, NY));
  size_t shared_bytes = (NY * NK + NK * NX) * sizeof(float);
  slab_kernel<<<blocks, threads, shared_bytes>>>(M, N, P, j, k, l);
  cudaError_t err = cudaGetLastError();
  if (err) goto failed;
  return;
failed:
  CHECK(err);
}
