// Rungs 04 and 05 of the summit, as they are, for products of small numbers: one line a shape, with
// the largest error in units of float32's bound and a hash of P's bits. The same program runs on a
// GPU and under `warpsim run`; measure.py compares the lines.
#include <cmath>
#include <cstring>
#include <vector>

#include "common/summit.h"

using namespace summit;

namespace {

float value(unsigned i) {
  i = i * 2654435761u;
  i ^= i >> 15;
  i *= 2246822519u;
  i ^= i >> 13;
  return float(int(i % 20011) - 10005) / 7919.0f;
}

void run(int rung, int j, int k, int l) {
  std::vector<float> M(size_t(j) * k), N(size_t(k) * l), P(size_t(j) * l, NAN);
  for (size_t i = 0; i < M.size(); ++i) M[i] = value(unsigned(i));
  for (size_t i = 0; i < N.size(); ++i) N[i] = value(unsigned(i) + 77777);
  float *m, *n, *p;
  check(cudaMalloc(&m, M.size() * 4), "M");
  check(cudaMalloc(&n, N.size() * 4), "N");
  check(cudaMalloc(&p, P.size() * 4), "P");
  check(cudaMemcpy(m, M.data(), M.size() * 4, cudaMemcpyHostToDevice), "M");
  check(cudaMemcpy(n, N.data(), N.size() * 4, cudaMemcpyHostToDevice), "N");
  const Problem problem{m, n, p, j, k, l};
  (rung == 4 ? launch_04 : launch_05)(problem, nullptr);
  check(cudaMemcpy(P.data(), p, P.size() * 4, cudaMemcpyDeviceToHost), "P");
  double worst = 0;
  unsigned long long hash = 1469598103934665603u;
  for (int row = 0; row < j; ++row) {
    for (int column = 0; column < l; ++column) {
      const float got = P[size_t(row) * l + column];
      double sum = 0, size = 0;
      for (int i = 0; i < k; ++i) {
        const double product = double(M[size_t(row) * k + i]) * N[size_t(i) * l + column];
        sum += product;
        size += std::fabs(product);
      }
      const double error = std::fabs(got - sum) / (size * std::sqrt(double(k)) / (1 << 24));
      if (!(error <= worst)) worst = error;
      unsigned bits;
      std::memcpy(&bits, &got, 4);
      hash = (hash ^ bits) * 1099511628211u;
    }
  }
  std::printf("rung %02d %d x %d x %d: error %.3f, %016llx\n", rung, j, k, l, worst, hash);
  for (float* memory : {m, n, p}) cudaFree(memory);
}

}  // namespace

int main() {
  for (int rung : {4, 5}) {
    run(rung, 256, 32, 128);
    run(rung, 256, 300, 128);
    run(rung, 1, 1, 1);
    run(rung, 300, 100, 77);
    run(rung, 129, 500, 260);
  }
}
