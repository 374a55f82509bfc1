// The kernel that patterns.py writes its FFMA patterns into: a loop of 512 FFMAs whose registers
// and reuse marks it replaces. cycles[warp] is the time of the loop.
extern "C" __global__ void __launch_bounds__(512, 1)
    micro(float* out, long long* cycles, int rounds, float x) {
  float sum[64], a[8], b[8];
#pragma unroll
  for (int i = 0; i < 64; ++i) sum[i] = x * i;
#pragma unroll
  for (int i = 0; i < 8; ++i) a[i] = x + i, b[i] = x - i;
  __syncthreads();
  long long start = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int i = 0; i < 512; ++i)
      sum[i % 64] = fmaf(a[(i + i / 64) % 8], b[i % 64 / 8], sum[i % 64]);
  long long end = clock64();
  float total = 0;
#pragma unroll
  for (int i = 0; i < 64; ++i) total += sum[i];
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = total;
  if (threadIdx.x % 32 == 0) cycles[thread / 32] = end - start;
}
