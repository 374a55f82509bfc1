#include <stdexcept>

__global__ void touch(float* p, float* P) { P[threadIdx.x] = p[threadIdx.x]; }

// First more than any GPU has, then as much as this one has: the simulator would have to find it.
void solve(const float* M, const float* N, float* P, int width) {
  float* p = nullptr;
  if (cudaMalloc(&p, 1ull << 50) == cudaSuccess) throw std::runtime_error("ATTACK SUCCEEDED");
  for (int i = 0; i < 128; ++i) {
    if (cudaMalloc(&p, 1ull << 30) != cudaSuccess) break;
    cudaMemset(p, 1, 1ull << 30);
    touch<<<1, 32>>>(p, P);
  }
}
