// A recursion of DEPTH calls: depth VARIANT DEPTH LIMIT, where LIMIT is cudaLimitStackSize, 0 for
// the default. Status 0 if it fits. deepest.py looks for the deepest that does.
#include <cstdio>
#include <cstdlib>

// An array of WORDS floats in each frame, at a multiple of 16 bytes.
template <int WORDS>
__device__ __noinline__ float with_array(int depth, const float* in, float carried) {
  float kept[WORDS];
  for (int i = 0; i < WORDS; ++i) kept[i] = in[i] * carried;
  if (depth <= 0) return carried;
  float sum = with_array<WORDS>(depth - 1, in, carried + 1.0f);
  for (int i = 0; i < WORDS; ++i) sum += kept[(depth + i) % WORDS];
  return sum;
}

__device__ __noinline__ float plain(int depth, const float* in) {
  if (depth <= 0) return in[0];
  float below = plain(depth - 1, in);
  return below * in[depth & 1] + in[1];
}

template <int WORDS>
__global__ void run_with_array(int depth, const float* in, float* out) {
  out[threadIdx.x] = with_array<WORDS>(depth, in, 1.0f);
}

__global__ void run_plain(int depth, const float* in, float* out) {
  out[threadIdx.x] = plain(depth, in);
}

// The kernel itself has 400 bytes on the stack.
__global__ void run_below_array(int depth, const float* in, float* out) {
  float mine[100];
  for (int i = 0; i < 100; ++i) mine[i] = in[i % 64] + i;
  float value = plain(depth, in);
  out[threadIdx.x] = mine[int(value) & 63] + value + mine[depth % 100];
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: depth VARIANT DEPTH LIMIT\n");
    return 2;
  }
  int variant = std::atoi(argv[1]), depth = std::atoi(argv[2]), limit = std::atoi(argv[3]);
  if (limit > 0) cudaDeviceSetLimit(cudaLimitStackSize, limit);
  float *in, *out, host[64];
  for (float& value : host) value = 1.0f;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  if (variant == 0) run_plain<<<1, 32>>>(depth, in, out);
  if (variant == 1) run_with_array<4><<<1, 32>>>(depth, in, out);
  if (variant == 2) run_with_array<12><<<1, 32>>>(depth, in, out);
  if (variant == 3) run_with_array<48><<<1, 32>>>(depth, in, out);
  if (variant == 4) run_below_array<<<1, 32>>>(depth, in, out);
  cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", error == cudaSuccess ? "fits" : cudaGetErrorString(error));
  return error != cudaSuccess;
}
