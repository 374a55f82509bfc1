// cuRAND's generators in device code: the sequences of three of them, uniform and normal.
#include <curand_kernel.h>

#include "../feature.h"

template <class State>
__global__ void draw(unsigned* ints, float* uniform, float* normal, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  State s;
  curand_init(1234, i, 5, &s);
  if (i >= n) return;
  for (int k = 0; k < 4; ++k) ints[4 * i + k] = curand(&s);
  uniform[i] = curand_uniform(&s);
  normal[i] = curand_normal(&s);
}

template <class State>
void run(const char* name) {
  const int n = 200;
  unsigned* a = to_device(std::vector<unsigned>(4 * n));
  float *u = to_device(std::vector<float>(n)), *g = to_device(std::vector<float>(n));
  draw<State><<<2, 128>>>(a, u, g, n);
  auto hu = from_device(u, n), hg = from_device(g, n);
  double mean = 0, square = 0;
  bool right = true;
  for (int i = 0; i < n; ++i)
    right &= hu[i] > 0 && hu[i] <= 1, mean += hu[i] / n, square += hg[i] * hg[i] / n;
  expect(name, right && mean > 0.4 && mean < 0.6 && square > 0.7 && square < 1.3);
  bits("integers", from_device(a, 4 * n));
  bits("uniform", hu);
  OK(cudaFree(a));
  OK(cudaFree(u));
  OK(cudaFree(g));
}

int main() {
  run<curandStatePhilox4_32_10_t>("Philox");
  run<curandStateXORWOW_t>("XORWOW");
  run<curandStateMRG32k3a_t>("MRG32k3a");
  return finish();
}
