// A loop in phases, as questions about barriers show it. -DWITHOUT=1 or 2 leaves that barrier out.
#define BARRIER(number) \
  if (number != WITHOUT) __syncthreads()

__global__ void phases(const float* in, float* out, int count) {
  __shared__ float part[128];
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int ph = 0; ph < count; ++ph) {
    part[t] = in[ph * 128 + t];
    BARRIER(1);
    sum += part[t] * part[(t + 40) % 128];
    BARRIER(2);
  }
  out[t] = sum;
}

int main() {
  float *in = nullptr, *out = nullptr;
  if (cudaMalloc(&in, 4 * 128 * 4) || cudaMalloc(&out, 128 * 4)) return 1;
  if (cudaMemset(in, 0, 4 * 128 * 4)) return 1;
  phases<<<1, 128>>>(in, out, 4);
  return cudaDeviceSynchronize() != cudaSuccess;
}
