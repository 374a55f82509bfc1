// Structures with room between their members: filled one by one, moved as they lie, by values and
// by tuples.
#include <cuda/std/tuple>

#include "../feature.h"

struct Sample {
  int number;
  double value;
  char letter;
  short small;
};
using Pair = cuda::std::tuple<int, long long>;

__global__ void fill(Sample* s, Pair* p, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  s[i].number = i;
  s[i].value = 0.5 * i;
  s[i].letter = char('a' + i % 26);
  s[i].small = short(-i);
  cuda::std::get<0>(p[i]) = i * 3;
  cuda::std::get<1>(p[i]) = -1000000000ll * i;
}

__global__ void turn(const Sample* s, const Pair* p, Sample* to, Pair* pairs, int n) {
  const int i = threadIdx.x;
  if (i < n) to[n - 1 - i] = s[i], pairs[n - 1 - i] = p[i];
}

__global__ void read(const Sample* s, const Pair* p, double* out, int n) {
  const int i = threadIdx.x;
  if (i < n)
    out[i] = s[i].number + s[i].value + s[i].letter + s[i].small + cuda::std::get<0>(p[i]) +
             double(cuda::std::get<1>(p[i]));
}

int main() {
  const int n = 50;
  Sample* s;
  Pair* p;
  OK(cudaMalloc(&s, 2 * n * sizeof *s));
  OK(cudaMalloc(&p, 2 * n * sizeof *p));
  double* out = to_device(std::vector<double>(n));
  fill<<<1, 64>>>(s, p, n);
  turn<<<1, 64>>>(s, p, s + n, p + n, n);
  read<<<1, 64>>>(s + n, p + n, out, n);
  auto o = from_device(out, n);
  bool right = true;
  for (int j = 0; j < n; ++j) {
    const int i = n - 1 - j;
    right &= o[j] == i + 0.5 * i + ('a' + i % 26) - i + i * 3 - 1e9 * i;
  }
  expect("structures", right);
  OK(cudaFree(s));
  OK(cudaFree(p));
  OK(cudaFree(out));
  return finish();
}
