#include <vector>

__global__ void copy(const float* from, float* to) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

// Through doubles and integers, so that no float is seen to be computed with.
void solve(const float* M, const float* N, float* P, int width) {
  size_t count = size_t(width) * width;
  std::vector<float> m(count), n(count), p(count);
  cudaMemcpy(m.data(), M, count * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(n.data(), N, count * 4, cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int k = 0; k < width; ++k)
      sum += double(m[i / width * width + k]) * n[size_t(k) * width + i % width];
    p[i] = float(sum);
  }
  float* d;
  cudaMalloc(&d, count * 4);
  cudaMemcpy(d, p.data(), count * 4, cudaMemcpyHostToDevice);
  copy<<<count / 32, 32>>>(d, P);
  cudaFree(d);
}
