// Votes, matches, reductions and shuffles of a warp, whole and of a part; population counts and the
// like.
#include "../feature.h"

__global__ void votes(const int* in, unsigned* out) {
  const int lane = threadIdx.x % 32;
  const unsigned full = 0xffffffffu;
  unsigned* o = out + threadIdx.x * 16;
  const int v = in[threadIdx.x];
  o[0] = __ballot_sync(full, v & 1);
  o[1] = __any_sync(full, v == 7);
  o[2] = __all_sync(full, v >= 0);
  o[3] = __match_any_sync(full, v % 4);
  int pred;
  o[4] = __match_all_sync(full, v / 1000, &pred);
  o[5] = pred;
  o[6] = __reduce_add_sync(full, v);
  o[7] = __reduce_max_sync(full, v);
  o[8] = __reduce_xor_sync(full, (unsigned)v);
  o[9] = __shfl_xor_sync(full, v, 5);
  o[10] = __shfl_up_sync(full, v, 3, 16);
  o[11] = __shfl_down_sync(full, v, 2, 8);
  o[12] = __shfl_sync(full, v, lane * 7, 32);
  if (lane < 20) {
    const unsigned m = __activemask();
    o[13] = __reduce_min_sync(0xfffff, (unsigned)v) + __popc(m);
    o[14] = __match_any_sync(0xfffff, (long long)(v % 3));
  } else {
    o[13] = __reduce_or_sync(0xfff00000u, (unsigned)v);
    o[14] = __ballot_sync(0xfff00000u, v > 50);
  }
  __syncwarp();
  double d = v * 0.25;
  for (int k = 16; k; k /= 2) d += __shfl_xor_sync(full, d, k);
  o[15] = unsigned(d * 4);
}

__global__ void counts(const unsigned* in, unsigned* out) {
  const unsigned v = in[threadIdx.x] * 2654435761u + 12345u, w = v * 3 + 1;
  unsigned* o = out + threadIdx.x * 12;
  o[0] = __popc(v);
  o[1] = __clz(v >> (threadIdx.x % 32));
  o[2] = __ffs(v << (threadIdx.x % 31));
  o[3] = __brev(v);
  o[4] = __byte_perm(v, w, 0x3175);
  o[5] = __funnelshift_l(v, w, threadIdx.x);
  o[6] = __vadd4(v, w) ^ __vmaxu2(v, w) ^ __vabsdiffs4(v, w);
  o[7] = __dp4a((int)v, (int)w, 5) ^ __dp2a_lo(v, w, 7u);
  o[8] = __umulhi(v, w) ^ __mulhi((int)v, (int)w) ^ __usad(v, w, 3);
  o[9] = __hadd(int(v), int(w)) ^ __rhadd(int(v), int(w)) ^ __umul24(v, w);
  o[10] = __fns(v, 0, 3);
  o[11] = __vcmpgtu4(v, w) ^ __vsads2(v, w) ^ __vavgu4(v, w) ^ __vsubss2(v, w) ^ __vminu4(v, w) ^
          __viaddmax_s32(int(v), int(w), 7);
}

int main() {
  const int n = 64;
  auto h = random_ints(n, 100);
  int* in = to_device(h);
  unsigned* out = to_device(std::vector<unsigned>(16 * n));
  votes<<<1, n>>>(in, out);
  auto o = from_device(out, 16 * n);
  bool right = true;
  for (int t = 0; t < n; ++t) {
    const int w = t / 32 * 32;
    unsigned odd = 0, same = 0, sum = 0, x = 0;
    int most = 0;
    for (int k = 0; k < 32; ++k) {
      odd |= (h[w + k] & 1u) << k, same |= unsigned(h[w + k] % 4 == h[t] % 4) << k, sum += h[w + k],
          x ^= h[w + k];
      most = h[w + k] > most ? h[w + k] : most;
    }
    const unsigned* p = &o[16 * t];
    right &= p[0] == odd && p[3] == same && p[6] == sum && p[7] == unsigned(most) && p[8] == x &&
             p[9] == unsigned(h[w + ((t % 32) ^ 5)]) && p[15] == sum;
  }
  expect("votes", right);
  bits("votes", o);
  unsigned* more = to_device(std::vector<unsigned>(12 * n));
  counts<<<1, n>>>((unsigned*)in, more);
  auto c = from_device(more, 12 * n);
  right = true;
  for (int t = 0; t < n; ++t)
    right &= c[12 * t] == unsigned(__builtin_popcount(h[t] * 2654435761u + 12345u));
  expect("counts", right);
  bits("counts", c);
  for (int k = 0; k < 12; ++k) {
    std::vector<unsigned> column(n);
    for (int t = 0; t < n; ++t) column[t] = c[12 * t + k];
    char name[16];
    std::snprintf(name, sizeof name, "count %d", k);
    bits(name, column);
  }
  OK(cudaFree(in));
  OK(cudaFree(out));
  OK(cudaFree(more));
  return finish();
}
