__global__ void copy(const float* from, float* to, size_t count) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = from[i];
}

void solve(const float* M, const float* N, float* P, int width) {
  size_t count = size_t(width) * width;
  float *m, *n, *p;
  cudaMallocManaged(&m, count * 4);
  cudaMallocManaged(&n, count * 4);
  cudaMallocManaged(&p, count * 4);
  copy<<<(count + 255) / 256, 256>>>(M, m, count);
  copy<<<(count + 255) / 256, 256>>>(N, n, count);
  cudaDeviceSynchronize();
  for (size_t i = 0; i < count; ++i) p[i] = 0;
  for (int row = 0; row < width; ++row)
    for (int col = 0; col < width; ++col)
      for (int k = 0; k < width; ++k) p[row * width + col] += m[row * width + k] * n[k * width + col];
  copy<<<(count + 255) / 256, 256>>>(p, P, count);
  cudaDeviceSynchronize();
  cudaFree(m), cudaFree(n), cudaFree(p);
}
