/* pinned memory, two streams and an event, all errors through goto */
#include <stdio.h>
#include <string.h>

#define TRY(call)                                                      \
  do {                                                                 \
    err = (call);                                                      \
    if (err != cudaSuccess) {                                          \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(err));     \
      goto done;                                                       \
    }                                                                  \
  } while (0)

__global__ void product(const float* x, const float* y, float* z, int edge) {
  int col = blockDim.x * blockIdx.x + threadIdx.x;
  int row = blockDim.y * blockIdx.y + threadIdx.y;
  if (col < edge && row < edge) {
    float v = 0.0f;
    int i;
    for (i = 0; i < edge; i++) v += x[row * edge + i] * y[i * edge + col];
    z[row * edge + col] = v;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  cudaError_t err;
  float *hx = NULL, *hy = NULL, *hz = NULL, *dx = NULL, *dy = NULL, *dz = NULL;
  cudaStream_t first = NULL, second = NULL;
  cudaEvent_t ready = NULL;
  const size_t room = sizeof(float) * (size_t)width * (size_t)width;
  dim3 block(16, 8);
  dim3 grid((width + block.x - 1) / block.x, (width + block.y - 1) / block.y);

  TRY(cudaMallocHost((void**)&hx, room));
  TRY(cudaMallocHost((void**)&hy, room));
  TRY(cudaMallocHost((void**)&hz, room));
  TRY(cudaMalloc((void**)&dx, room));
  TRY(cudaMalloc((void**)&dy, room));
  TRY(cudaMalloc((void**)&dz, room));
  TRY(cudaStreamCreate(&first));
  TRY(cudaStreamCreate(&second));
  TRY(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  memcpy(hx, M, room);
  memcpy(hy, N, room);
  TRY(cudaMemcpyAsync(dx, hx, room, cudaMemcpyHostToDevice, first));
  TRY(cudaMemcpyAsync(dy, hy, room, cudaMemcpyHostToDevice, second));
  TRY(cudaEventRecord(ready, second));
  TRY(cudaStreamWaitEvent(first, ready, 0));
  product<<<grid, block, 0, first>>>(dx, dy, dz, width);
  TRY(cudaGetLastError());
  TRY(cudaMemcpyAsync(hz, dz, room, cudaMemcpyDeviceToHost, first));
  TRY(cudaStreamSynchronize(first));
  memcpy(P, hz, room);
done:
  if (ready) cudaEventDestroy(ready);
  if (second) cudaStreamDestroy(second);
  if (first) cudaStreamDestroy(first);
  cudaFree(dz);
  cudaFree(dy);
  cudaFree(dx);
  cudaFreeHost(hz);
  cudaFreeHost(hy);
  cudaFreeHost(hx);
}
