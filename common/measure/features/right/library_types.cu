// Types of the C++ library on the device: span, array, tuple, optional, complex, limits, bit,
// chrono's clock, 128 bits, sorting by hand.
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>

#include "../feature.h"
namespace cs = cuda::std;

__device__ cs::optional<int> find(cs::span<const int> s, int v) {
  for (int i = 0; i < int(s.size()); ++i)
    if (s[i] == v) return i;
  return cs::nullopt;
}

__device__ cs::tuple<int, int> extremes(cs::span<const int> s) {
  int lo = cs::numeric_limits<int>::max(), hi = cs::numeric_limits<int>::min();
  for (int v : s) lo = v < lo ? v : lo, hi = v > hi ? v : hi;
  return {lo, hi};
}

__global__ void use(const int* in, int n, int* out, cs::complex<float>* c,
                    unsigned long long* wide) {
  const int i = threadIdx.x;
  cs::span<const int> s(in, n);
  out[4 * i] = find(s, i).value_or(-1);
  auto [lo, hi] = extremes(s.subspan(i, 16));
  out[4 * i + 1] = lo, out[4 * i + 2] = hi;
  out[4 * i + 3] = cs::popcount(unsigned(in[i])) * 100 + cs::countl_zero(unsigned(in[i] + 1));
  cs::complex<float> z(in[i] * 0.25f, -0.5f);
  c[i] = z * z + cs::conj(z);
  cs::array<int, 8> a;
  for (int k = 0; k < 8; ++k) a[k] = in[(i + k) % n];
  for (int k = 1; k < 8; ++k)
    for (int j = k; j > 0 && a[j - 1] > a[j]; --j) cs::swap(a[j - 1], a[j]);
  unsigned __int128 p = 1;
  for (int v : a) p = p * (unsigned)(v + 1) * 1000003u;
  p = p / 12345u + p % 77u;
  wide[2 * i] = (unsigned long long)p, wide[2 * i + 1] = (unsigned long long)(p >> 64);
}

int main() {
  const int n = 96;
  auto h = random_ints(n, 64);
  int *in = to_device(h), *out = to_device(std::vector<int>(4 * 64));
  cs::complex<float>* c;
  OK(cudaMalloc(&c, 64 * sizeof *c));
  auto* wide = to_device(std::vector<unsigned long long>(128));
  use<<<1, 64>>>(in, n, out, c, wide);
  auto o = from_device(out, 256);
  auto w = from_device(wide, 128);
  bool right = true;
  for (int i = 0; i < 64; ++i) {
    int at = -1;
    for (int k = n; k-- > 0;) at = h[k] == i ? k : at;
    std::vector<int> a(8);
    for (int k = 0; k < 8; ++k) a[k] = h[(i + k) % n];
    unsigned __int128 p = 1;
    for (int k = 0; k < 8; ++k) p = p * (unsigned)(a[k] + 1) * 1000003u;
    p = p / 12345u + p % 77u;
    right &= o[4 * i] == at && w[2 * i] == (unsigned long long)p &&
             w[2 * i + 1] == (unsigned long long)(p >> 64);
  }
  expect("library types", right);
  bits("complex", from_device((float*)c, 128));
  bits("integers", o);
  for (void* p : {(void*)in, (void*)out, (void*)c, (void*)wide}) OK(cudaFree(p));
  return finish();
}
