#include <cuda_runtime.h>

template <unsigned int blockSize>
__global__ void reduce(const float* g_idata, float* g_odata, int n) {
  extern __shared__ float sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockSize + tid;
  sdata[tid] = (i < n) ? g_idata[i] : 0.0f;
  __syncthreads();
  for (unsigned int s = blockSize / 2; s > 0; s >>= 1) {
    if (tid < s) {
      sdata[tid] += sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid == 0) atomicAdd(g_odata, sdata[0]);
}

void solve(const float* x, float* sum, int n) {
  const int threads = 256;
  int blocks = (n + threads - 1) / threads;
  size_t smem = threads * sizeof(float);
  cudaMemset(sum, 0, sizeof(float));
  reduce<threads><<<blocks, threads, smem>>>(x, sum, n);
}
