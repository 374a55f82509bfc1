#include <vector>

// A literal of 1 GiB for the plan.
void solve(const float* M, const float* N, float* P, int width) {
  std::vector<unsigned> noise(1 << 28);
  unsigned x = 1;
  for (unsigned& word : noise) word = x = x * 1664525 + 1013904223;
  void* d;
  cudaMalloc(&d, noise.size() * 4);
  cudaMemcpy(d, noise.data(), noise.size() * 4, cudaMemcpyHostToDevice);
  cudaFree(d);
}
