#include <stdio.h>
#include <string.h>

#define AT(A, r, c, ld) ((A)[(size_t)(r) * (ld) + (c)])
#define DIVUP(a, b) (((a) + (b) - 1) / (b))
#define TRY(call)                             \
  do {                                        \
    if ((err = (call)) != cudaSuccess) {      \
      where = #call;                          \
      goto done;                              \
    }                                         \
  } while (0)

__global__ void mm(const float* A, const float* B, float* C, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (!(x < n && y < n)) return;
  const float *p, *q, *end;
  float s = 0;
  for (p = &AT(A, y, 0, n), q = &AT(B, 0, x, n), end = p + n; p != end; ++p, q += n) s += *p * *q;
  AT(C, y, x, n) = s;
}

void solve(const float* M, const float* N, float* P, int width) {
  cudaError_t err = cudaSuccess;
  const char* where = "";
  float *hM = NULL, *hN = NULL, *hP = NULL;
  float *dM = NULL, *dN = NULL, *dP = NULL;
  size_t bytes = sizeof(float) * width * width;
  dim3 threads(32, 8);
  dim3 blocks(DIVUP(width, threads.x), DIVUP(width, threads.y));

  TRY(cudaMallocHost((void**)&hM, bytes));
  TRY(cudaMallocHost((void**)&hN, bytes));
  TRY(cudaMallocHost((void**)&hP, bytes));
  TRY(cudaMalloc((void**)&dM, bytes));
  TRY(cudaMalloc((void**)&dN, bytes));
  TRY(cudaMalloc((void**)&dP, bytes));
  memcpy(hM, M, bytes);
  memcpy(hN, N, bytes);
  TRY(cudaMemcpyAsync(dM, hM, bytes, cudaMemcpyHostToDevice, 0));
  TRY(cudaMemcpyAsync(dN, hN, bytes, cudaMemcpyHostToDevice, 0));
  mm<<<blocks, threads>>>(dM, dN, dP, width);
  TRY(cudaGetLastError());
  TRY(cudaMemcpyAsync(hP, dP, bytes, cudaMemcpyDeviceToHost, 0));
  TRY(cudaDeviceSynchronize());
  memcpy(P, hP, bytes);

done:
  if (err != cudaSuccess) fprintf(stderr, "%s: %s\n", where, cudaGetErrorString(err));
  cudaFree(dM);
  cudaFree(dN);
  cudaFree(dP);
  cudaFreeHost(hM);
  cudaFreeHost(hN);
  cudaFreeHost(hP);
}
