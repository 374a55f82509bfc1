// pad to whole tiles, transpose, multiply tile by tile, unpad: a kernel for each step
#include "check.h"

#define T 16

__global__ void pad(const float* from, int side, float* to, int wide) {
  int c = blockIdx.x * T + threadIdx.x, r = blockIdx.y * T + threadIdx.y;
  to[r * wide + c] = r < side && c < side ? from[r * side + c] : 0.0f;
}

__global__ void transpose(const float* from, float* to, int wide) {
  __shared__ float tile[T][T + 1];
  tile[threadIdx.y][threadIdx.x] = from[(blockIdx.y * T + threadIdx.y) * wide + blockIdx.x * T + threadIdx.x];
  __syncthreads();
  to[(blockIdx.x * T + threadIdx.y) * wide + blockIdx.y * T + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void multiply(const float* a, const float* bT, float* c, int wide) {
  __shared__ float as[T][T], bs[T][T + 1];
  float sum = 0.0f;
  for (int t = 0; t < wide; t += T) {
    as[threadIdx.y][threadIdx.x] = a[(blockIdx.y * T + threadIdx.y) * wide + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = bT[(blockIdx.x * T + threadIdx.y) * wide + t + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < T; i++) sum += as[threadIdx.y][i] * bs[threadIdx.x][i];
    __syncthreads();
  }
  c[(blockIdx.y * T + threadIdx.y) * wide + blockIdx.x * T + threadIdx.x] = sum;
}

__global__ void unpad(const float* from, int wide, float* to, int side) {
  int c = blockIdx.x * T + threadIdx.x, r = blockIdx.y * T + threadIdx.y;
  if (r < side && c < side) to[r * side + c] = from[r * wide + c];
}

struct Work {
  float *small, *a, *b, *bT, *c;
  size_t plain, padded;
};

static void reserve(Work& w, int side, int wide) {
  w.plain = sizeof(float) * side * side;
  w.padded = sizeof(float) * wide * wide;
  CHECK(cudaMalloc(&w.small, w.plain));
  for (float** p : {&w.a, &w.b, &w.bT, &w.c}) CHECK(cudaMalloc(p, w.padded));
}

static void release(Work& w) {
  for (float* p : {w.small, w.a, w.b, w.bT, w.c}) CHECK(cudaFree(p));
}

void solve(const float* M, const float* N, float* P, int width) {
  const int wide = (width + T - 1) / T * T;
  Work w;
  reserve(w, width, wide);
  const dim3 threads(T, T), blocks(wide / T, wide / T);
  CHECK(cudaMemcpy(w.small, M, w.plain, cudaMemcpyHostToDevice));
  pad<<<blocks, threads>>>(w.small, width, w.a, wide);
  CHECK(cudaMemcpy(w.small, N, w.plain, cudaMemcpyHostToDevice));
  pad<<<blocks, threads>>>(w.small, width, w.b, wide);
  transpose<<<blocks, threads>>>(w.b, w.bT, wide);
  multiply<<<blocks, threads>>>(w.a, w.bT, w.c, wide);
  unpad<<<blocks, threads>>>(w.c, wide, w.small, width);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(P, w.small, w.plain, cudaMemcpyDeviceToHost));
  release(w);
}
