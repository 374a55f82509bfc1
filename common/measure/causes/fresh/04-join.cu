// Lab 04: a block-nested-loop join of the relations R (j x k) and S (k x l).
#include "check.h"

using idx = unsigned long long;

constexpr unsigned PAGE = 16;

struct Schema {
  unsigned outer, key, inner;  // j, k, l
};

__host__ __device__ constexpr unsigned pages(unsigned tuples) {
  return (tuples - 1) / PAGE + 1;
}

__global__ void join(const float* R, const float* S, float* out, Schema sc) {
  __shared__ float buf_r[PAGE][PAGE], buf_s[PAGE][PAGE];
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const unsigned o = blockIdx.y * PAGE + ty;  // outer tuple
  const unsigned n = blockIdx.x * PAGE + tx;  // inner tuple

  const bool has_o = o < sc.outer;
  const bool has_n = n < sc.inner;
  const float* r_cursor = R + idx(o) * sc.key + tx;
  const float* s_cursor = S + idx(ty) * sc.inner + n;

  float agg = 0.0f;
  unsigned left = sc.key;  // keys not yet joined
  for (unsigned pg = pages(sc.key); pg-- > 0;) {
    float r = 0.0f, s = 0.0f;
    if (has_o && tx < left) r = *r_cursor;
    if (has_n && ty < left) s = *s_cursor;
    buf_r[ty][tx] = r;
    buf_s[ty][tx] = s;
    __syncthreads();

#pragma unroll 4
    for (unsigned key = 0; key < PAGE; ++key) agg += buf_r[ty][key] * buf_s[key][tx];
    __syncthreads();

    r_cursor += PAGE;
    s_cursor += idx(PAGE) * sc.inner;
    left -= PAGE;
  }

  if (has_o && has_n) out[idx(o) * sc.inner + n] = agg;
}

void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  const Schema sc = {unsigned(j), unsigned(k), unsigned(l)};
  const dim3 grid(pages(sc.inner), pages(sc.outer), 1);
  const dim3 block(PAGE, PAGE, 1);
  void* args[] = {&M, &N, &P, (void*)&sc};
  CHECK(cudaLaunchKernel((const void*)join, grid, block, args, 0, nullptr));
}
