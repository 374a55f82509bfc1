// What linked.cu uses.

__device__ int shared_value = 100;
static __device__ int hidden = 7;
__constant__ float table[4] = {1, 2, 3, 4};
static __device__ __noinline__ int own(int x) {
  return 2 * x + hidden;
}
__device__ int twice(int x) {
  return own(x);
}

__global__ void again(int* out) {
  out[threadIdx.x] = twice(1) + shared_value;
}
__global__ void write(int* out) {
  out[threadIdx.x + 32] = 1;
}

void other(int* out, int value) {
  cudaMemcpyToSymbol(shared_value, &value, sizeof value);
  again<<<1, 32>>>(out);
}
void past_the_end(int* out) {
  write<<<1, 32>>>(out);
}
