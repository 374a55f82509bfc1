// Every atomic function, in global and in shared memory, with results that no order changes.
#include <algorithm>

#include "../feature.h"

template <class F>
__device__ void each_place(unsigned* global, unsigned* shared, int at, F f) {
  f(global + at);
  f(shared + at);
}

__global__ void all(const unsigned* in, unsigned* g, double* d, float* f, unsigned long long* l,
                    unsigned* copy, int n) {
  __shared__ unsigned s[16];
  __shared__ double sd;
  if (threadIdx.x < 16) s[threadIdx.x] = g[threadIdx.x];
  if (threadIdx.x == 0) sd = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const unsigned v = in[i];
    each_place(g, s, 0, [=](unsigned* p) { atomicAdd(p, v); });
    each_place(g, s, 1, [=](unsigned* p) { atomicSub(p, v); });
    each_place(g, s, 2, [=](unsigned* p) { atomicMin((int*)p, int(v) - 500); });
    each_place(g, s, 3, [=](unsigned* p) { atomicMax((int*)p, int(v) - 500); });
    each_place(g, s, 4, [=](unsigned* p) { atomicMin(p, v); });
    each_place(g, s, 5, [=](unsigned* p) { atomicMax(p, v); });
    each_place(g, s, 6, [=](unsigned* p) { atomicAnd(p, v | 0xf0f00000u); });
    each_place(g, s, 7, [=](unsigned* p) { atomicOr(p, v); });
    each_place(g, s, 8, [=](unsigned* p) { atomicXor(p, v); });
    each_place(g, s, 9, [=](unsigned* p) { atomicInc(p, 99); });
    each_place(g, s, 10, [=](unsigned* p) { atomicDec(p, 77); });
    each_place(g, s, 11, [=](unsigned* p) {
      unsigned old = *(volatile unsigned*)p, seen;
      while ((seen = atomicCAS(p, old, old + 2)) != old) old = seen;
    });
    atomicExch(&g[12], 42u);
    atomicAdd(d, 0.5);
    atomicAdd(&sd, double(v));
    atomicAdd(f, 1.0f);
    atomicAdd(l, (unsigned long long)v << 30);
    atomicMax((long long*)l + 1, (long long)v - 1000000000000ll);
    atomicAnd(l + 2, ~(1ull << (v % 64)));
    atomicCAS((unsigned short*)(l + 3) + 1, (unsigned short)(0), (unsigned short)(7));
    atomicAdd_block(&g[13], 1u);
    atomicAdd_system(&g[14], 3u);
  }
  __syncthreads();
  if (threadIdx.x < 16) copy[threadIdx.x] = s[threadIdx.x];
  if (threadIdx.x == 0) d[1] = sd;
}

int main() {
  const int n = 1500;
  auto h = random_ints(n, 1000);
  std::vector<unsigned> start(16, 0), in(h.begin(), h.end());
  start[2] = 1000, start[3] = unsigned(-1000), start[4] = ~0u, start[6] = ~0u;
  unsigned *di = to_device(in), *g = to_device(start), *copy = to_device(start);
  double* d = to_device(std::vector<double>(2));
  float* f = to_device(std::vector<float>(1));
  unsigned long long* l = to_device(std::vector<unsigned long long>{0, 1ull << 63, ~0ull, 0});
  all<<<1, 192>>>(di, g, d, f, l, copy, n);
  auto o = from_device(g, 16), c = from_device(copy, 16);
  unsigned sum = 0, x = 0, least = ~0u, most = 0, all_or = 0, all_and = ~0u, inc = 0, dec = 0;
  for (unsigned v : in) {
    sum += v, x ^= v, least = std::min(least, v), most = std::max(most, v), all_or |= v,
                      all_and &= v | 0xf0f00000u;
    inc = inc >= 99 ? 0 : inc + 1;
    dec = dec == 0 || dec > 77 ? 77 : dec - 1;
  }
  const unsigned expected[12] = {sum,     0u - sum, least - 500, most - 500, least, most,
                                 all_and, all_or,   x,           inc,        dec,   2u * n};
  bool right = true;
  for (int i = 0; i < 12; ++i) right &= o[i] == expected[i] && c[i] == expected[i];
  expect("words", right && o[12] == 42 && o[13] == n && o[14] == 3 * n);
  auto hd = from_device(d, 2);
  auto hl = from_device(l, 4);
  expect("wider", hd[0] == 0.5 * n && hd[1] == sum && from_device(f, 1)[0] == n &&
                      hl[0] == (unsigned long long)sum << 30 &&
                      (long long)hl[1] == most - 1000000000000ll && hl[3] == 7 << 16);
  bits("words", o);
  bits("long", hl);
  for (void* p : {(void*)di, (void*)g, (void*)copy, (void*)d, (void*)f, (void*)l}) OK(cudaFree(p));
  return finish();
}
