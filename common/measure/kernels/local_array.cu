// An array in local memory (indexed at run time), a table in constant memory, device functions that are not inlined.
__constant__ float weights[16] = {1, -1, 0.5f, 2, 0.25f, 3, -2, 0.125f, 1.5f, -0.5f, 4, 0.75f, -3, 8, -0.25f, 0.375f};

__noinline__ __device__ float pick(const float* values, int at) { return values[at & 15] * weights[(at * 7) & 15]; }

__global__ void local_array(const float* M, const float* N, float* P, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  float values[16];
  for (int k = 0; k < 16; ++k) values[(k * 5 + i) & 15] = M[(i + k) % (n * n)] * weights[k];
  float sum = 0;
  int at = (int)(N[i] * 50.0f) + 64;
  for (int k = 0; k < 16; ++k) sum += pick(values, at + k * 3);
  P[i] = sum;
}

void solve(const float* M, const float* N, float* P, int n) {
  local_array<<<(n * n + 127) / 128, 128>>>(M, N, P, n);
}
